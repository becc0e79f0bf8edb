"""Each page: asks the store, has a view made of it, draws that."""

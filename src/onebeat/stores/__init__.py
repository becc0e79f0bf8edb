"""Who: the kinds of claim store."""

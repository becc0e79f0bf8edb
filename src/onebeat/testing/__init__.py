"""For the tests of programs that use onebeat, and of stores written for it."""

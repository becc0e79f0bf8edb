"""What is to be said of a fleet, its jobs and their ticks, for the command line and the pages alike. Pure."""

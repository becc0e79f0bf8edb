"""The pytest plugin: fixtures for programs that use onebeat."""

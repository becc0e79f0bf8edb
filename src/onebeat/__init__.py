"""Recurring jobs inside replicated Python services: every tick fires on exactly one replica."""

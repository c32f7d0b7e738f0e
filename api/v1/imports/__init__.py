"""Imports: files of a public data set, given over HTTP."""

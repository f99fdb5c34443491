"""Verifiers of the forms, a file each; every module in this package is imported when a form is first verified."""

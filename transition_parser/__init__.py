"""A fairseq plug-in that turns sentences into graphs by predicting the actions of a state machine."""

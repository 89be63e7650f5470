"""PocketSphinx: worker processes, the recogniser of a call, and its language model."""

DOMAIN_WEIGHT = 0.5
"""Weight of the expected sentences in each probability of the language model for which they have data.

Here, not in `language_model`, so that settings are read without importing numpy.

Word error rates with the responder's sentences. Today's sentences at 0.5: samples/ 4.4 % (413 words). Earlier lists
with more requests: samples/ 4.8 % (413 words); the fifty requests of tests/voice/responder/ordinary_requests.yaml in
four flite voices 5.6 % (1,060 words); ten general sentences in these voices 9.3 % (388 words). Still earlier lists: the
70 requests of samples/ (393 words): 14.5 % without the sentences, 6.6 % at 0.4, 6.4 % at 0.5, 6.1 % at 0.6. The same
requests in four flite voices (1,156 words): 12.2, 6.2, 5.9 and 5.6 %. Ten general sentences in these voices (352
words): 6.8, 9.4, 9.1 and 8.2 %. An earlier list at 0.4: 37 requests in four flite voices, without any verbatim match in
the list: 16.2 % without the sentences, 5.2 % with them; ten general sentences in the same voices: 9.8 and 7.4 %; 17
recordings of humans reading other things (172 words): 22.1 and 23.8 %. From 0.6 on, the requests gain one point and the
humans lose two; at 0.9 the humans lose twelve.
"""

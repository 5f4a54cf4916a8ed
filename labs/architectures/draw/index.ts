/**
 * Drawing: proposals for a state, drawn from the schemas of a domain and from the values that the
 * state has.
 *
 * Guarantees: the same seed, domain and state give the same proposals.
 *
 * Not promised: that a drawn proposal fits its schema, or that any rule allows it.
 */
export { Choices } from './choices.ts';
export { ProposalDrawer } from './proposals.ts';

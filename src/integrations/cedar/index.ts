/**
 * Policies in Cedar (cedarpolicy.com), by the optional peer `@cedar-policy/cedar-wasm`.
 *
 * Guarantees: policies are checked against their schema before they are ever asked; every question has an answer, at once;
 * whatever can't be asked, can't be evaluated or throws is a denial that says why; nothing in arguments is read as anything but
 * data. Never: a clock, the state of the world, a network; a decision at replay, which reads the one that is recorded.
 *
 * What decides: a `forbid` over all; then a `permit` with `@approval("required")`, which is `needs_approval`; then a `permit`.
 * Nothing is allowed by default. `rule` names the first of the winning sort: its `@id`, else `policy0`, `policy1`, …; `@because`
 * is the sentence for people.
 *
 * Imports published names only.
 */
export { type CedarOptions, cedarPolicy } from './cedar-policy.ts';
export { CedarError, type CedarErrorCode } from './errors.ts';
export { TEXT_MAX } from './projection.ts';

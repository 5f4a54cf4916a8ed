/**
 * Policies in Cedar (cedarpolicy.com), through the optional peer `@cedar-policy/cedar-wasm`.
 *
 * Guarantees: policies are checked against their schema before the first question. Every question
 * has an immediate answer. A question that cannot be asked or evaluated, or that throws, is a
 * denial with the reason. Arguments are only ever read as data.
 *
 * Never: a clock, the domain's state, a network, or a decision at replay: a replay reads the
 * recorded one.
 *
 * Decision: a `forbid` takes precedence; then a `permit` with `@approval("required")`
 * (`needs_approval`); then a `permit`. Nothing is allowed by default. `rule` names the first policy
 * of the deciding kind: its `@id`, else `policy0`, `policy1`, …; `@because` is the sentence for
 * people. If the schema shows calls, each call of the proposal is a request, and each must be
 * allowed.
 *
 * Imports published names only.
 */
export { type CedarOptions, cedarPolicy } from './cedar-policy.ts';
export { CedarError } from './errors.ts';
export { TEXT_MAX } from './projection.ts';

export type * from './domain.ts';
export {
  type Approval,
  type EachInvariant,
  type EachOptions,
  each,
  type Invariant,
  type InvariantOptions,
  invariant,
  type PlainInvariant,
  type Rules,
} from './invariant.ts';
export { escalate, type InvariantResult, pass, reject } from './result.ts';

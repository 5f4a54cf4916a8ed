/**
 * What tools do outside of the world: who may act on a resource, and what has to be done about it next.
 *
 * Guarantees: work that conflicts acts in the order of its epochs, and waits for what is older and for nothing else; what is
 * next about a transaction follows from the effect log alone, so that whoever finds the log goes on from there.
 *
 * Never: does I/O, reads a clock, calls a tool.
 */
export { Coordinator, type Stale, type Work } from './coordinator.ts';
export {
  BEGUN,
  type Delivery,
  type EffectClass,
  type EffectPhase,
  type EffectRecord,
  type EffectState,
  type Knowing,
  nextStep,
  type Reversibility,
  recorded,
  type Sink,
  type Step,
  TRIES,
  type TransactionPhase,
  type TransactionState,
} from './protocol.ts';
export { type Access, type Claim, conflicts, scopesMeet } from './scopes.ts';

/**
 * `assize/effects`: the declaration of tools that agents call in transactions.
 *
 * Guarantees: a tool that `declareTool` accepts states its class, its scopes and how a call of it
 * is repeated, compensated or looked up. An invalid declaration is an error.
 * Never: calls a tool.
 */
export {
  type Access,
  type CallContext,
  type CompensationResult,
  DidNothing,
  declareTool,
  type EffectClass,
  NoAnswer,
  type ReconcileResult,
  type Resolver,
  type ResolverContext,
  type Tool,
  type ToolSpec,
} from '#effects';
export type {
  EffectOutcome,
  EffectResolution,
  EffectTransaction,
  ResolvedEffect,
  UnresolvedEffect,
} from '#runtime';

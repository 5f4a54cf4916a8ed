import { type ArgumentSchema, arg, isRecord } from 'assize/internal/base';
import type { AnsweringRule } from '#gateway';

/** A value that is neither a list nor an object. */
export type Scalar = string | number | boolean | null;

/** A number in an argument is at most `max`, or a list has at most `max` items. */
export interface BoundRule {
  readonly kind: 'bound';
  readonly tool: string;
  /** JSON pointer into the arguments. */
  readonly path: string;
  readonly of: 'value' | 'length';
  readonly max: number;
}

/** An argument is one of these values. */
export interface ValuesRule {
  readonly kind: 'values';
  readonly tool: string;
  readonly path: string;
  /** In canonical order. */
  readonly values: readonly Scalar[];
}

/** A text in an argument begins with a prefix. The prefix ends with `/` or `:`. */
export interface PrefixRule {
  readonly kind: 'prefix';
  readonly tool: string;
  readonly path: string;
  readonly prefix: string;
}

/** A call of `tool` follows a call of `needs` that is done, in the same run. */
export interface OrderingRule {
  readonly kind: 'ordering';
  readonly tool: string;
  readonly needs: string;
  /** The arguments of both calls that have the same value. Absent: no argument is compared. */
  readonly on?: { readonly path: string; readonly needsPath: string };
}

/** A person approves each call, or each call with a number from `min` on. */
export interface ApprovalRule {
  readonly kind: 'approval';
  readonly tool: string;
  readonly from?: { readonly path: string; readonly min: number };
}

/** Some principals, or some roles, never make the call. */
export interface NeverRule {
  readonly kind: 'never';
  readonly tool: string;
  readonly by: 'principal' | 'role';
  /** In the order of their UTF-16 code units. */
  readonly names: readonly string[];
}

/** The principal of a call did not call `other` earlier in the same run. */
export interface ApartRule {
  readonly kind: 'apart';
  readonly tool: string;
  readonly other: string;
}

/** A principal makes at most `max` of the calls in a run, or in a calendar window of UTC. */
export interface RateRule {
  readonly kind: 'rate';
  readonly tool: string;
  readonly per: 'run' | 'minute' | 'hour' | 'day';
  readonly max: number;
}

/** A call that no rule is about is let through. */
export interface AllowRule {
  readonly kind: 'allow';
  readonly tool: string;
  /** The rule as a rules file has it. */
  readonly rule: AnsweringRule;
}

export type MinedRule =
  | AllowRule
  | BoundRule
  | ValuesRule
  | PrefixRule
  | OrderingRule
  | ApprovalRule
  | NeverRule
  | ApartRule
  | RateRule;

export type MinedKind = MinedRule['kind'];

export const KINDS: readonly MinedKind[] = [
  ...(['allow', 'bound', 'values', 'prefix', 'ordering', 'approval', 'never'] as const),
  ...(['apart', 'rate'] as const),
];

const PATH = arg.of(
  'a JSON pointer',
  (value) => typeof value === 'string' && /^(?:\/(?:[^~]|~[01])*)?$/.test(value),
);
const SCALAR = arg.of(
  'a text, a number, true, false or null',
  (value) => value === null || isScalar(value),
);
const NUMBER = arg.of('a finite number', (value) => Number.isFinite(value));
const COUNT = arg.wholeFrom(0);

/** The members of each kind, except `kind` and `tool`. */
const MEMBERS: Readonly<Record<MinedKind, Readonly<Record<string, ArgumentSchema>>>> = {
  allow: { rule: arg.members({ allow: arg.text }) },
  bound: { path: PATH, of: arg.oneOf(['value', 'length']), max: NUMBER },
  values: { path: PATH, values: arg.list(SCALAR) },
  prefix: { path: PATH, prefix: arg.text },
  ordering: { needs: arg.text, on: arg.optional(arg.members({ path: PATH, needsPath: PATH })) },
  approval: { from: arg.optional(arg.members({ path: PATH, min: NUMBER })) },
  never: { by: arg.oneOf(['principal', 'role']), names: arg.list(arg.text) },
  apart: { other: arg.text },
  rate: { per: arg.oneOf(['run', 'minute', 'hour', 'day']), max: COUNT },
};

/** The form of a rule, for argument checks. */
export const RULE: ArgumentSchema = (value) =>
  arg.members({ kind: arg.oneOf(KINDS), tool: arg.text })(value) ??
  arg.members(MEMBERS[(isRecord(value) ? value['kind'] : 'bound') as MinedKind])(value);

function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

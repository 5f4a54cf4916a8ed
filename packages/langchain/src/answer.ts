import { arg, checkArgument, isRecord, type Json } from 'assize/internal/base';
import type { AgUiInterrupt, AssizeInterrupt } from './pause.ts';

/** A decision about a held call, in the words of LangChain. */
export type CallDecision =
  | { readonly type: 'approve' }
  | { readonly type: 'reject'; readonly message?: string }
  | {
      readonly type: 'edit';
      readonly editedAction: { readonly name: string; readonly args: Record<string, Json> };
    };

/** The value with which a paused run is resumed. It names the call that it is about. */
export interface CallAnswer {
  readonly decisions: readonly [CallDecision];
  readonly assize: { readonly call: string; readonly approval: string; readonly digest?: string };
}

/** The decision of an answer, and the call that it names. */
export interface ReadAnswer {
  readonly type: 'approve' | 'reject' | 'edit';
  readonly reason?: string;
  readonly edited?: { readonly name?: string; readonly args: Readonly<Record<string, Json>> };
  readonly about?: AnsweredCall;
}

/** The call that an answer names: each member that is there has to fit. */
export interface AnsweredCall {
  readonly approval: string;
  readonly call?: string;
  readonly digest?: string;
}

/**
 * The answer to a pause, for `new Command({ resume })`. It names the interrupt and the call, as
 * LangGraph gives an answer without a name to every call that waits, and again in later runs.
 *
 * @throws ArgumentError `bad_argument`
 */
export function answerTo(
  pause: Paused,
  decision: CallDecision,
): Readonly<Record<string, CallAnswer>> {
  checkArgument(PAUSED, pause, 'pause');
  checkArgument(DECISION, decision, 'decision');
  const { id, value } = pause;
  const { call, approval, digest } =
    'assize' in value ? value.assize : (value.interrupts[0] as AgUiMember).metadata;
  return {
    [id]: {
      decisions: [decision],
      assize: { call, approval, ...(digest !== undefined && { digest }) },
    },
  };
}

/** An interrupt of a graph, as `__interrupt__` of its result has it. */
export interface Paused {
  readonly id: string;
  readonly value: AssizeInterrupt | AgUiInterrupt;
}

type AgUiMember = AgUiInterrupt['interrupts'][number];

const PAUSED = arg.of('an interrupt of Assize', (value) => {
  const { id, value: asked } = (value ?? {}) as Fields;
  const { assize, interrupts } = (asked ?? {}) as Fields;
  const paused =
    assize ??
    ((Array.isArray(interrupts) ? interrupts[0] : undefined) as Fields | undefined)?.['metadata'];
  return typeof id === 'string' && isRecord(paused) && typeof aboutOf(paused) === 'object';
});

const DECISION = arg.of('a decision: approve, reject or edit', (decision) => {
  return ofHitl({ decisions: [decision] }) !== undefined;
});

/** Reads an answer in the form of LangChain or of AG-UI. Undefined: it decides nothing. */
export function readAnswer(answer: unknown): ReadAnswer | undefined {
  if (Array.isArray(answer)) return answer.length === 1 ? readAnswer(answer[0]) : undefined;
  if (!isRecord(answer)) return undefined;
  if ('decisions' in answer) return ofHitl(answer);
  if ('interruptId' in answer) return ofAgUi(answer);
  return 'decision' in answer ? ofPayload(answer) : undefined;
}

/** `{decisions: [decision]}`, with exactly one decision: a pause asks about one call. */
function ofHitl({ decisions, assize }: Fields): ReadAnswer | undefined {
  if (!Array.isArray(decisions) || decisions.length !== 1 || !isRecord(decisions[0]))
    return undefined;
  const { type, message, editedAction } = decisions[0];
  const about = aboutOf(assize);
  if (about === undefined) return undefined;
  if (type === 'approve') return { type, ...named(about) };
  if (type === 'reject') return { type, ...reasonOf(message), ...named(about) };
  if (type !== 'edit' || !isRecord(editedAction)) return undefined;
  const { name, args } = editedAction;
  if (typeof name !== 'string' || !isRecord(args)) return undefined;
  return { type, edited: { name, args: args as Record<string, Json> }, ...named(about) };
}

/** `{interruptId, status, payload}`, with which a client of AG-UI resumes. */
function ofAgUi({ interruptId, status, payload }: Fields): ReadAnswer | undefined {
  if (typeof interruptId !== 'string' || status !== 'resolved' || !isRecord(payload))
    return undefined;
  const read = ofPayload(payload);
  return read && { ...read, about: { approval: interruptId } };
}

/** `{decision, reason, args}`. Other arguments amend the call. */
function ofPayload({ decision, reason, args, assize }: Fields): ReadAnswer | undefined {
  const about = aboutOf(assize);
  if (about === undefined) return undefined;
  if (decision === 'reject') return { type: 'reject', ...reasonOf(reason), ...named(about) };
  if (decision !== 'approve') return undefined;
  if (args === undefined) return { type: 'approve', ...named(about) };
  if (!isRecord(args)) return undefined;
  return { type: 'edit', edited: { args: args as Record<string, Json> }, ...named(about) };
}

type Fields = Readonly<Record<string, unknown>>;

/** The call that an answer names, or null if it names none. Undefined if it names no known form. */
function aboutOf(assize: unknown): AnsweredCall | null | undefined {
  if (assize === undefined) return null;
  if (!isRecord(assize)) return undefined;
  const { call, approval, digest } = assize;
  const isNamed = [call, approval, digest ?? ''].every((name) => typeof name === 'string');
  return isNamed ? ({ call, approval, digest } as unknown as AnsweredCall) : undefined;
}

function named(about: AnsweredCall | null): { readonly about?: AnsweredCall } {
  return about === null ? {} : { about };
}

function reasonOf(reason: unknown): { readonly reason?: string } {
  return typeof reason === 'string' && reason.trim() !== '' ? { reason } : {};
}

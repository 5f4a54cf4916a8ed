import { isRecord, type Json } from 'assize/internal/base';
import type { Outcome } from './close-call.ts';
import type { Decision, Judgement } from './decide-call.ts';
import { CallError } from './errors.ts';
import type { SessionUndo } from './undo-calls.ts';

/** The document of an answer. */
export type Document = Readonly<Record<string, Json | undefined>>;

const CLASSES: readonly unknown[] = ['read', 'reversible', 'irreversible'];
const TURNS: readonly unknown[] = ['waiting', 'restart', 'lost'];
const OUTCOMES: readonly unknown[] = ['done', 'failed', 'unknown'];

/**
 * The decision of a server about a call. Every other answer is an error, so none lets a call be
 * made by mistake.
 *
 * @throws CallError `bad_answer`
 */
export function readDecision(document: Document, id: string): Decision | Judgement {
  const { decision, ...more } = document;
  const is = FORMS.get(decision as string);
  if (is === undefined || !is(more, id)) throw badAnswer(`the decision about the call ${id}`);
  return { kind: decision, ...more } as unknown as Decision | Judgement;
}

const FORMS: ReadonlyMap<string, (more: Document, id: string) => boolean> = new Map([
  [
    'allowed',
    ({ call, class: of, args }, id) =>
      call === id && CLASSES.includes(of) && (args === undefined || isRecord(args)),
  ],
  ['ready', ({ call }, id) => call === id],
  [
    'denied',
    ({ reason, turn }) =>
      typeof reason === 'string' && (turn === undefined || TURNS.includes(turn)),
  ],
  ['pending', ({ approval, reason }) => typeof approval === 'string' && typeof reason === 'string'],
  ['begun', ({ call, reason }, id) => call === id && typeof reason === 'string'],
]);

/**
 * The outcome of a call, as a server has it. Undefined while it is not known.
 *
 * @throws CallError `bad_answer`
 */
export function readOutcome(document: Document, id: string): Outcome | undefined {
  const { outcome, result } = document;
  if (outcome === undefined) return undefined;
  if (!OUTCOMES.includes(outcome)) throw badAnswer(`the outcome of the call ${id}`);
  return { outcome, ...(result !== undefined && { result }) } as Outcome;
}

/**
 * How a session is taken back, as a server lists it.
 *
 * @throws CallError `bad_answer`
 */
export function readUndoCalls({ calls, left }: Document, session: string): SessionUndo {
  const hasTexts = (each: Json, members: readonly string[]): boolean =>
    isRecord(each) && members.every((member) => typeof each[member] === 'string');
  const isUndo = (each: Json): boolean =>
    hasTexts(each, ['call', 'server', 'tool']) && isRecord((each as Document)['args']);
  const isLeft = (each: Json): boolean => hasTexts(each, ['call', 'reason']);
  if (!isListOf(calls, isUndo) || !isListOf(left, isLeft))
    throw badAnswer(`the calls of the session ${session}`);
  return { calls, left } as unknown as SessionUndo;
}

function isListOf(value: Json | undefined, is: (each: Json) => boolean): boolean {
  return Array.isArray(value) && value.every(is);
}

/** The error of an answer that has not the form of the API. */
export function badAnswer(about: string): CallError {
  const text = `The server has answered about ${about} in no form of the API. See that the address is that of assize serve.`;
  return new CallError('bad_answer', text);
}

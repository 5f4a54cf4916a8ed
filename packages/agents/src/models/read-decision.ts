import type { Json } from 'assize/internal/base';
import type { Decision } from '#agents';
import type { ActionTools } from './action-tools.ts';
import { jsonIn } from './answer-text.ts';
import type { ChatAnswer, ChatCall } from './chat-model.ts';
import type { ModelError } from './errors.ts';

/** The fault of an answer: the code of the error, and the words for the model. */
export interface AnswerFault {
  readonly fault: ModelError['code'];
  readonly detail: string;
}

/** The decision of an answer: a tool call, or one JSON object with an action in its text. */
export function readDecision(
  answer: ChatAnswer,
  { tools, meanings }: ActionTools,
): Decision | AnswerFault {
  if (answer.stop === 'length')
    return { fault: 'token_limit', detail: 'the answer is cut at the token limit' };
  if (answer.stop === 'filter')
    return { fault: 'content_filtered', detail: 'the model or a filter declined to answer' };
  const calls = answer.calls.length > 0 ? answer.calls : callsInText(answer.text);
  const [call, ...others] = calls;
  if (call === undefined)
    return {
      fault: 'bad_answer',
      detail: 'the answer has no tool call, and not one JSON object with an action',
    };
  if (others.length > 0)
    return {
      fault: 'bad_answer',
      detail: `the answer has ${calls.length} calls; make exactly one`,
    };
  const meaning = meanings.get(call.name);
  if (meaning === undefined) {
    const names = tools.map(({ name }) => name).join(', ');
    return { fault: 'bad_answer', detail: `there is no ${shown(call.name)}; call one of ${names}` };
  }
  if (meaning.action === undefined) return meaning.decision;
  if (call.unreadable !== undefined)
    return { fault: 'bad_answer', detail: `the arguments of ${call.name} are not JSON` };
  return { action: meaning.action, args: argsOf(call.input ?? {}, meaning.isWrapped) };
}

/** `{action, args}`, in the forms that models write. */
function callsInText(text: string): readonly ChatCall[] {
  const said = jsonIn(text);
  if (typeof said !== 'object' || said === null || Array.isArray(said)) return [];
  const members = said as { readonly [member: string]: Json };
  const name = ['action', 'name', 'tool']
    .map((member) => members[member])
    .find((member) => typeof member === 'string');
  if (name === undefined) return [];
  const input = ['args', 'arguments', 'input', 'parameters'].find((member) =>
    Object.hasOwn(members, member),
  );
  return [{ name: name as string, input: input === undefined ? {} : (members[input] as Json) }];
}

/** An argument that is not an object arrives in the member `value`. */
function argsOf(input: Json, isWrapped: boolean): Json {
  if (!isWrapped || typeof input !== 'object' || input === null || Array.isArray(input))
    return input;
  const { value } = input as { readonly value?: Json };
  return value === undefined ? input : value;
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, 64).toWellFormed());
}

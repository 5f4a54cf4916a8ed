import {
  ambiguous,
  bold,
  CliError,
  dim,
  isPrefix,
  line,
  type Output,
  periodText,
  shortened,
} from '@assize/command';
import type { AskedQuestion, GivenAnswer } from 'assize/internal/runtime';
import { type Questions, shortId } from 'assize/internal/views';

/** Each question, with its candidates numbered from 1. */
export function printQuestions(out: Output, id: string, questions: Questions): void {
  if (questions === 'erased') {
    out.line(line`${dim('the question')} was erased; the proposal can only be rejected`);
    return;
  }
  for (const { request, space, subject, predicate, members } of questions) {
    out.line(
      line`${dim('contradiction')} ${bold(subject)} ${predicate}, in ${space}, request ${shortId(request)}`,
    );
    out.table(
      [
        { title: '', align: 'right' },
        { title: 'object' },
        { title: 'confidence', align: 'right' },
        { title: 'valid' },
        { title: 'claim' },
      ],
      members.map(({ claim, ends, object, confidence, valid }, i) => [
        i + 1,
        ends ? `no longer ${shortened(object)}` : shortened(object),
        confidence,
        valid.map(({ from, to }) => periodText(from, to)).join(', '),
        shortId(claim),
      ]),
    );
  }
  if (questions.length === 1)
    out.line(dim(line`assize approve ${shortId(id)} --as PRINCIPAL --answer N`));
  if (questions.length > 1) {
    const each = questions.map(({ request }) => `--answer ${shortId(request)}=N`).join(' ');
    out.line(dim(line`assize approve ${shortId(id)} --as PRINCIPAL ${each}`));
  }
}

export function printWithdrawn(out: Output, id: string, source: string): void {
  out.line(line`can only be rejected: its source ${JSON.stringify(source)} was withdrawn`);
  out.line(dim(line`assize reject ${shortId(id)} --as PRINCIPAL --reason TEXT`));
}

/** Digits of a full request or claim. The runtime itself refuses a full but unknown one. */
const WHOLE = /^[0-9a-f]{64}$/;

/**
 * The typed answers: `N` for a single question; `REQUEST=N`, `REQUEST=CLAIM`.
 *
 * @throws CliError
 */
export function answersTo(
  questions: readonly AskedQuestion[],
  typed: readonly string[],
): GivenAnswer[] {
  return typed.map((text) => {
    const [first = '', second, ...more] = text.split('=');
    if (more.length > 0 || first === '' || second === '')
      throw new CliError(
        'usage',
        `'${text}' is not an answer. Write N, REQUEST=N or REQUEST=CLAIM.`,
      );
    if (second !== undefined) return answerTo(questionOf(questions, first), second);
    const [only, ...others] = questions;
    if (only === undefined)
      throw new CliError('usage', 'The proposal has no question. Remove --answer.');
    if (others.length === 0) return answerTo(only, first);
    throw new CliError(
      'usage',
      `The proposal has ${questions.length} questions. Write REQUEST=N for each.`,
    );
  });
}

type Asked = Pick<AskedQuestion, 'request' | 'members'>;

function questionOf(questions: readonly AskedQuestion[], typed: string): Asked {
  const name = typed.toLowerCase();
  const found = isPrefix(name) ? questions.filter(({ request }) => request.startsWith(name)) : [];
  const [one, other] = found;
  if (one !== undefined && other !== undefined)
    throw ambiguous('question', typed, [one.request, other.request]);
  if (one !== undefined) return one;
  if (WHOLE.test(name)) return { request: name, members: [] };
  throw new CliError(
    'not_found',
    `The proposal has no question ${typed}. List its questions with assize pending.`,
  );
}

function answerTo({ request, members }: Asked, typed: string): GivenAnswer {
  const name = typed.toLowerCase();
  if (/^\d{1,7}$/.test(name)) {
    const member = members[Number(name) - 1];
    if (member !== undefined) return { request, winner: member.claim };
    throw new CliError(
      'not_found',
      `The question has no candidate ${typed}. Pass a number from 1 to ${members.length}.`,
    );
  }
  const found = isPrefix(name) ? members.filter(({ claim }) => claim.startsWith(name)) : [];
  const [one, other] = found;
  if (one !== undefined && other !== undefined)
    throw ambiguous('claim', typed, [one.claim, other.claim]);
  if (one !== undefined) return { request, winner: one.claim };
  if (WHOLE.test(name)) return { request, winner: name };
  throw new CliError(
    'not_found',
    `The question has no candidate with the claim ${typed}. List its candidates with assize pending.`,
  );
}

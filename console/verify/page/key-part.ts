import type { Content, GivenKeys } from '../bundle/verify.ts';
import { fingerprint, LOG_TYPE, type NoteKey, readKey, WITNESS_TYPE } from '../log/key.ts';
import { element, facts, section } from './element.ts';
import { code, inert } from './inert.ts';

/** How the key of the bundle stands to the key that the reader has. */
export type Compared = 'not compared' | 'equal' | 'another key';

const SIGNS: Readonly<Record<Compared, string>> = {
  'not compared': '?',
  equal: '\u2713',
  'another key': '\u2715',
};

/**
 * The key of the log, and fields for the keys that the reader has from elsewhere. A key in a bundle
 * comes from its sender, so it is never trusted without a comparison.
 */
export function keyPart(
  { keys, checkpoint }: Content,
  onGiven: (given: GivenKeys) => void,
): HTMLElement {
  const log = element('input', {
    id: 'log-key',
    type: 'text',
    autocomplete: 'off',
    spellcheck: 'false',
  });
  const witnesses = element('textarea', { id: 'witness-keys', rows: '2', spellcheck: 'false' });
  const standing = element('p', { class: 'standing', role: 'status' });
  const compare = () => {
    const given = givenKeys(log.value, witnesses.value);
    const { words, compared, problem } = standingOf(given, log.value, witnesses.value, keys.log);
    standing.dataset['compared'] = problem ? 'problem' : compared;
    standing.textContent = `${problem ? '!' : SIGNS[compared]} ${words}`;
    onGiven(given);
  };
  for (const field of [log, witnesses]) field.addEventListener('input', compare);
  const words = 'not compared with a key of yours';
  standing.dataset['compared'] = 'not compared';
  standing.textContent = `? ${words}`;
  return section(
    'Key of the log',
    facts(
      ['Log', inert(checkpoint.origin)],
      ['Key', code(keys.log.text)],
      ['Fingerprint', code(fingerprint(keys.log.text))],
    ),
    element('label', { for: 'log-key' }, 'Key that you have from the operator'),
    log,
    standing,
    element(
      'details',
      {},
      element('summary', {}, 'Keys of witnesses'),
      element('label', { for: 'witness-keys' }, 'Keys that must have cosigned, one a line'),
      witnesses,
    ),
  );
}

/** How the given keys compare with the key of a bundle. */
export function comparedWith(given: GivenKeys, key: NoteKey): Compared {
  if (given.log === undefined) return 'not compared';
  return given.log.text === key.text ? 'equal' : 'another key';
}

/** The keys in the fields of a reader. A text that is not a key is left out. */
export function givenKeys(log: string, witnesses: string): GivenKeys {
  const key = readKey(log.trim());
  const lines = linesOf(witnesses).map(readKey);
  return {
    ...(key?.type === LOG_TYPE && { log: key }),
    witnesses: lines.filter((one) => one?.type === WITNESS_TYPE) as readonly NoteKey[],
  };
}

function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** The reason why a text in the fields is left out. */
export function keyProblem(given: GivenKeys, log: string, witnesses: string): string | undefined {
  if (log.trim() !== '' && given.log === undefined)
    return 'this is not a key of a log: name+id+Base64';
  return given.witnesses?.length === linesOf(witnesses).length
    ? undefined
    : 'a line is not the key of a witness: name+id+Base64';
}

function standingOf(given: GivenKeys, log: string, witnesses: string, key: NoteKey) {
  const compared = comparedWith(given, key);
  const problem = keyProblem(given, log, witnesses);
  if (problem !== undefined) return { words: problem, compared, problem: true };
  const words = {
    'not compared': 'not compared with a key of yours',
    equal: 'equal to the key that you have',
    'another key': 'another key than the one that you have',
  }[compared];
  return { words, compared, problem: false };
}

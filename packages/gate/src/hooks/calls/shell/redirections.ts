import type { HereDoc, HereDocBody, HereString, Redirect, Redirection, Word } from 'unbash';
import { readExpansions, readInner, variablesIn } from './expansions.ts';
import { type Folders, placesOf } from './folders.ts';
import type { Reading } from './reading.ts';
import { shellWord } from './shell-word.ts';
import { changesWhatRuns } from './variable-names.ts';

/** Files that hold nothing. */
const DEVICE = /^\/dev\/(?:null|std(?:in|out|err))$/;

export function readRedirections(
  redirections: readonly Redirection[],
  reading: Reading,
  source: string,
  at: Folders,
): void {
  for (const each of redirections) {
    if (each.descriptor?.type === 'FileDescriptorVariable' && changesWhatRuns(each.descriptor.name))
      reading.parts.dynamic(source.slice(each.pos, each.end));
    if (each.type === 'Redirect') readRedirect(each, reading, source, at);
    else readHere(each, reading, source, at);
  }
}

function readRedirect(
  { operator, target }: Redirect,
  reading: Reading,
  source: string,
  at: Folders,
): void {
  const isCopy = operator === '<&' || operator === '>&';
  // In bash `>&-` ends here, and the rest of the word is the next word.
  if (target === undefined || (isCopy && /^(?:\\\n)*-./s.test(target.text))) {
    reading.parts.fail();
    return;
  }
  const value = targetOf(target, reading, source, at);
  if (value === null) return;
  if (isCopy && /^(?:\d+-?|-)$/.test(value)) return;
  if (operator === '<&' || /^\/+dev\/+(?:tcp|udp)(?:\/|$)/.test(value)) {
    reading.parts.dynamic(target.text);
    return;
  }
  const { paths, sure } = placesOf(at, value);
  if (!sure) reading.parts.dynamic(target.text);
  for (const path of paths)
    if (!DEVICE.test(path))
      reading.parts.add('shell', operator === '<' ? 'read' : 'write', { path });
}

function targetOf(target: Word, reading: Reading, source: string, at: Folders): string | null {
  readExpansions(target, reading, source, at);
  const { value, text } = shellWord(target, reading, at);
  if (value === null || value === '') reading.parts.dynamic(text);
  return value === '' ? null : value;
}

function readHere(here: HereDoc | HereString, reading: Reading, source: string, at: Folders): void {
  if (here.type === 'HereString') {
    if (here.target === undefined) reading.parts.fail();
    else readText(here.target, reading, source, at);
    return;
  }
  if (here.delimiter === undefined || here.closing === undefined) reading.parts.fail();
  else if (!here.delimiter.quoted) readText(here.body, reading, source, at);
}

/** A program gets the text, and what its variables hold. */
function readText(node: Word | HereDocBody, reading: Reading, source: string, at: Folders): void {
  readInner(node, node.text, reading, source, at);
  for (const each of variablesIn(node)) if (!isKnown(each, reading)) reading.parts.dynamic(each);
}

function isKnown(text: string, { variables }: Reading): boolean {
  const name = text.replace(/^\$\{?|\}$/g, '');
  return name === 'HOME' || name === 'PWD' || variables.has(name);
}

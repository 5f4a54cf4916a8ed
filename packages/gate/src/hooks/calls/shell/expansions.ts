import { forEachChild, type ParameterExpansionPart, type SyntaxNode } from 'unbash';
import type { Folders } from './folders.ts';
import type { Reading } from './reading.ts';

/**
 * Reads the commands that the expansion of a node runs. Arithmetic with names and some parameter
 * expansions evaluate values of variables as code, so they are dynamic.
 */
export function readExpansions(
  node: SyntaxNode,
  reading: Reading,
  source: string,
  at: Folders,
): void {
  if (!reading.parts.step()) return;
  if (isSubstitution(node)) {
    // This form runs in the shell itself, so it can change the folder.
    if (node.text.startsWith('${')) reading.parts.dynamic(node.text);
    if (node.script === undefined) reading.parts.fail();
    else reading.script(node.script, source, at);
    return;
  }
  if (node.type === 'ArithmeticExpansion' && isEvaluated(node.text))
    reading.parts.dynamic(node.text);
  if (node.type === 'ParameterExpansion' && evaluates(node)) reading.parts.dynamic(node.text);
  forEachChild(node, (child) => readExpansions(child, reading, source, at));
}

/** The same for a word that no program gets: a value, a pattern, a text of a here-document. */
export function readInner(
  node: SyntaxNode,
  text: string,
  reading: Reading,
  source: string,
  at: Folders,
): void {
  readExpansions(node, reading, source, at);
  // A word with the sign of a substitution in which the parser sees none.
  if (mayRun(text) && !hasSubstitution(node)) reading.parts.dynamic(text);
}

/** The variables that the expansion of a node reads, as written. Substitutions are read alone. */
export function variablesIn(node: SyntaxNode): readonly string[] {
  if (isSubstitution(node)) return [];
  const found: string[] = [];
  if (node.type === 'SimpleExpansion' || node.type === 'ParameterExpansion') found.push(node.text);
  forEachChild(node, (child) => {
    found.push(...variablesIn(child));
  });
  return found;
}

/** Whether arithmetic has a name or an expansion. The shell evaluates the value of a name again. */
export function isEvaluated(text: string): boolean {
  return /[^\d\s+\-*/%()[\]<>=!&|^~?:,$]|\$(?![([])/.test(text);
}

function isSubstitution(node: SyntaxNode): node is Extract<SyntaxNode, { type: Substitution }> {
  return (
    node.type === 'CommandExpansion' ||
    node.type === 'ProcessSubstitution' ||
    node.type === 'ArithmeticCommandExpansion'
  );
}

type Substitution = 'CommandExpansion' | 'ProcessSubstitution' | 'ArithmeticCommandExpansion';

/** An index, a slice and an indirection are evaluated. `@P` expands its value once more. */
function evaluates({ index, operation, prefix }: ParameterExpansionPart): boolean {
  if (index !== undefined && !/^(?:\d+|[@*])$/.test(index.text)) return true;
  if (prefix === '!' && operation?.type !== 'Names') return true;
  if (operation === undefined) return false;
  if (operation.type === 'Slice')
    return [operation.offset, operation.length].some((each) => !isNumber(each?.text));
  return operation.type === 'Transform' || operation.type === 'Unknown';
}

function isNumber(text = '0'): boolean {
  return /^\s*-?\d+\s*$/.test(text);
}

function mayRun(text: string): boolean {
  const isQuoted = /^'[^']*'$/.test(text);
  return (
    !isQuoted && /(?<!\\)(?:\\\\)*(?:\$\((?!\()|`|\$\{[\s|])/.test(text.replace(/'[^']*'/g, ''))
  );
}

function hasSubstitution(node: SyntaxNode): boolean {
  if (isSubstitution(node)) return true;
  let has = false;
  forEachChild(node, (child) => {
    has ||= hasSubstitution(child);
  });
  return has;
}

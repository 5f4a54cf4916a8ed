import { type Container, clone, isContainer, setMember, type Value } from './json.ts';

export type Operation =
  | { op: 'add' | 'replace'; path: string; value: Value }
  | { op: 'remove'; path: string };

/** The difference of two states as documented in `changesOf`, found by looking at everything. */
export function naiveDiff(was: Container, now: Container, path = ''): Operation[] {
  if (Array.isArray(was) && Array.isArray(now)) {
    const shared = Math.min(was.length, now.length);
    const inside = was
      .slice(0, shared)
      .flatMap((item, i) => naiveMember(item, now[i] as Value, `${path}/${i}`));
    const grown = now
      .slice(shared)
      .map((value, i) => ({ op: 'add' as const, path: `${path}/${shared + i}`, value }));
    const shrunk = was
      .slice(shared)
      .map((_, i) => ({ op: 'remove' as const, path: `${path}/${shared + i}` }));
    return [...inside, ...grown, ...shrunk.reverse()];
  }
  const [before, after] = [was as Record<string, Value>, now as Record<string, Value>];
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return keys.flatMap((key): Operation[] => {
    const place = `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (!Object.hasOwn(after, key)) return [{ op: 'remove', path: place }];
    if (!Object.hasOwn(before, key))
      return [{ op: 'add', path: place, value: after[key] as Value }];
    return naiveMember(before[key] as Value, after[key] as Value, place);
  });
}

function naiveMember(was: Value, now: Value, path: string): Operation[] {
  if (isContainer(was) && isContainer(now) && Array.isArray(was) === Array.isArray(now)) {
    return naiveDiff(was, now, path);
  }
  return was === now ? [] : [{ op: 'replace', path, value: now }];
}

/** RFC 6902 by the letter, for `add`, `replace` and `remove`, on a copy of the document. */
export function rfc6902(document: Value, operations: readonly Operation[]): Value {
  const holder: { root: Value } = { root: clone(document) };
  for (const operation of operations) {
    const tokens = operation.path.split('/').slice(1);
    const names = tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = names.pop();
    if (last === undefined) throw new Error('these tests never replace the whole document');
    let here: Value = holder.root;
    for (const name of names) {
      if (!isContainer(here) || !Object.hasOwn(here, name))
        throw new Error(`no target at ${operation.path}`);
      here = (here as Record<string, Value>)[name] as Value;
    }
    if (Array.isArray(here)) listOperation(here, last, operation);
    else if (isContainer(here)) memberOperation(here, last, operation);
    else throw new Error(`no target at ${operation.path}`);
  }
  return holder.root;
}

function listOperation(list: Value[], name: string, operation: Operation): void {
  const index = name === '-' && operation.op === 'add' ? list.length : Number(name);
  const most = operation.op === 'add' ? list.length : list.length - 1;
  if (!/^(0|[1-9][0-9]*|-)$/.test(name) || !(index <= most))
    throw new Error(`no target at ${operation.path}`);
  if (operation.op === 'remove') list.splice(index, 1);
  else list.splice(index, operation.op === 'add' ? 0 : 1, clone(operation.value));
}

function memberOperation(
  object: { [key: string]: Value },
  name: string,
  operation: Operation,
): void {
  if (operation.op !== 'add' && !Object.hasOwn(object, name))
    throw new Error(`no target at ${operation.path}`);
  if (operation.op === 'remove') delete object[name];
  else setMember(object, name, clone(operation.value));
}

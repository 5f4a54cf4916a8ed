import { isDeepStrictEqual } from 'node:util';
import type { ResolvedConfig } from '#config';
import { type ClientText, ownEntries, withText } from './client-text.ts';
import { changedText, entryText, type ServerEntry, sameEntry, withEntryText } from './formats/entries.ts';
import { formatOf } from './formats/format-of.ts';
import { serverNameOf } from './names.ts';
import { isOf, type Original } from './originals.ts';
import { remoteFault } from './probe.ts';
import { type GatewayTerms, isWrapped, wrappable } from './wrap.ts';

/** One entry, with its state after the change. */
export interface PlannedEntry {
  readonly name: string;
  readonly state: 'wrapped' | 'behind' | 'left' | 'restored' | 'gone';
  /** The name in the rules. */
  readonly server?: string;
  /** Why the entry is left alone. */
  readonly why?: string;
}

/** The next text of one file, with the entries whose originals belong to it then. */
export interface FilePlan {
  readonly file: ClientText;
  readonly after: string;
  readonly entries: readonly PlannedEntry[];
  readonly originals: readonly Original[];
}

export interface Planning {
  readonly originals: readonly Original[];
  readonly terms: GatewayTerms;
  readonly isMeant: (name: string) => boolean;
  /** The servers that have a name in the rules. A plan adds its own. */
  readonly taken: Map<string, string>;
}

const UNSAFE =
  'its text has a form that this command does not change; write it as usual, or put the gateway in by hand';

/** Puts the gateway in front of the servers of a file. */
export async function wrappingPlan(file: ClientText, planning: Planning): Promise<FilePlan> {
  let current = file;
  const entries: PlannedEntry[] = [];
  let originals = planning.originals.filter((one) => one.file === file.path);
  for (const { at } of ownEntries(file).filter(({ name }) => planning.isMeant(name))) {
    const old = originals.find((one) => isOf(one, { file: file.path, at }));
    const { entry, original, text } = await wrapped(current, { at }, old, planning);
    entries.push(entry);
    if (original === undefined) continue;
    originals = [...originals.filter((one) => one !== old), original];
    current = withText(file, text);
  }
  return { file, after: current.text, entries, originals };
}

interface Made {
  readonly entry: PlannedEntry;
  readonly original?: Original;
  readonly text: string;
}

async function wrapped(
  file: ClientText,
  place: Pick<ServerEntry, 'at'>,
  old: Original | undefined,
  { originals, terms, taken }: Planning,
): Promise<Made> {
  const { text } = file;
  const found = located(file, place);
  const { name } = found;
  const isOurs = old !== undefined && isIntact(file, found, old);
  const left = (why: string): Made => ({ text, entry: { name, state: 'left', why } });
  if (!isOurs && (isWrapped(found.value) || String(found.value['url']).startsWith(`${terms.url}/mcp/`)))
    return { text, entry: { name, state: 'behind' } };
  if (found.fault !== undefined) return left(found.fault);
  const base = isOurs ? withText(file, withEntryText(text, found, old.before)) : file;
  const entry = located(base, place);
  const server = wrappable(entry.value, file.folder);
  if ('why' in server) return left(server.why);
  const fault = isOurs || server.remote === undefined ? undefined : await remoteFault(server.remote);
  if (fault !== undefined) return left(fault);
  // The command of an entry may change, and its name stays.
  if (old !== undefined && !originals.some((one) => one !== old && one.server === old.server)) taken.delete(old.server);
  const own = serverNameOf(name, server.identity, taken);
  const change = server.change(own, terms);
  const after = changedText(formatOf(file), base.text, { entry, change });
  if (after === undefined) return left(UNSAFE);
  taken.set(own, server.identity);
  const original = {
    ...{ client: file.client, file: file.path, at: [...entry.at], folder: file.folder },
    ...{ server: own, identity: server.identity },
    before: entryText(base.text, entry),
    after: entryText(after, located(withText(base, after), place)),
  };
  const state = isOurs && old.after === original.after ? 'behind' : 'wrapped';
  return { text: after, original, entry: { name, server: own, state } };
}

/** Takes the gateway out again. An entry that was changed afterwards is left as it is. */
export function restoringPlan(
  file: ClientText,
  { originals, isMeant }: Pick<Planning, 'originals' | 'isMeant'>,
): FilePlan {
  let current = file;
  const entries: PlannedEntry[] = [];
  const kept: Original[] = [];
  for (const one of originals.filter(({ file: path }) => path === file.path)) {
    const name = one.at.at(-1) as string;
    if (!isMeant(name)) {
      kept.push(one);
      continue;
    }
    const entry = current.entries.find((each) => sameEntry(each, one));
    if (entry === undefined) entries.push({ name, state: 'gone' });
    else if (!isIntact(current, entry, one)) {
      if (isWrapped(entry.value)) kept.push(one);
      const why = isWrapped(entry.value) ? 'it was changed afterwards' : 'the gateway is not in front of it any more';
      entries.push({ name, state: 'left', why });
    } else {
      current = withText(file, withEntryText(current.text, entry, one.before));
      entries.push({ name, state: 'restored', server: one.server });
    }
  }
  return { file, after: current.text, entries, originals: kept };
}

/** Whether an entry is as the command has written it, apart from blanks and comments. */
export function isIntact(file: ClientText, entry: ServerEntry, { after }: Original): boolean {
  const text = entryText(file.text, entry);
  const format = formatOf(file);
  return text === after || isDeepStrictEqual(plain(format.valueOf(text)), plain(format.valueOf(after)));
}

/** The servers that have a name already: those of other entries, and those of the configuration. */
export function takenNames(originals: readonly Original[], { mcp }: ResolvedConfig): Map<string, string> {
  const own = Object.entries(mcp?.servers ?? {}).map(([name, { url, command, args = [] }]): [string, string] => [
    name,
    JSON.stringify(url === undefined ? { words: [command, ...args] } : { url }),
  ]);
  return new Map([...own, ...originals.map(({ server, identity }): [string, string] => [server, identity])]);
}

function located(file: ClientText, place: Pick<ServerEntry, 'at'>): ServerEntry {
  return file.entries.find((each) => sameEntry(each, place)) as ServerEntry;
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

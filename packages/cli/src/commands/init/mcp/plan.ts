import { isDeepStrictEqual } from 'node:util';
import type { ResolvedConfig } from 'assize/internal/config';
import { type ClientText, ownEntries, withText } from './client-text.ts';
import { changedText, entryText, type ServerEntry, sameEntry, withEntryText } from './formats/entries.ts';
import { formatOf } from './formats/format-of.ts';
import { serverNameOf } from './names.ts';
import { isOf, type Original } from './originals.ts';
import { type GatewayTerms, hasGateway, hasOwnGateway, type RemoteServer, wrappable } from './wrap.ts';

/** One entry, with its state after the change. */
export interface PlannedEntry {
  readonly name: string;
  readonly state: 'wrapped' | 'behind' | 'left' | 'restored' | 'gone';
  /** The name in the rules. */
  readonly server?: string;
  /** Why the entry is left alone. */
  readonly why?: string;
  /** Whether the server could not be asked, because the client fills in a part of the request. */
  readonly untried?: boolean;
}

/** A server over HTTP that is to be asked before its entry is changed. */
export interface AskedServer {
  readonly key: string;
  readonly remote: RemoteServer;
}

/** The next text of one file, with the entries whose originals belong to it then. */
export interface FilePlan {
  readonly file: ClientText;
  readonly after: string;
  readonly entries: readonly PlannedEntry[];
  readonly originals: readonly Original[];
}

/** A plan that is not yet agreed to, with the servers to ask after the agreement. */
export interface WrappingPlan extends FilePlan {
  readonly asked: readonly AskedServer[];
}

export interface Planning {
  readonly originals: readonly Original[];
  readonly terms: GatewayTerms;
  readonly isMeant: (name: string) => boolean;
  /** The servers that have a name in the rules. A plan adds its own. */
  readonly taken: Map<string, string>;
  /** Faults of servers that were asked, by the keys of an earlier plan. */
  readonly faults?: ReadonlyMap<string, string>;
}

const UNSAFE =
  'its text has a form that this command does not change; write it as usual, or put the gateway in by hand';

const CHANGED = 'it was changed afterwards';
/** Any program can be called so, also one that a project brought. */
export const FOREIGN = 'it has a gateway that this command did not write; look at it, or take it out by hand';

/** Puts the gateway in front of the servers of a file. */
export function wrappingPlan(file: ClientText, planning: Planning): WrappingPlan {
  let current = file;
  const entries: PlannedEntry[] = [];
  const asked: AskedServer[] = [];
  let originals = planning.originals.filter((one) => one.file === file.path);
  for (const { at } of ownEntries(file).filter(({ name }) => planning.isMeant(name))) {
    const old = originals.find((one) => isOf(one, { file: file.path, at }));
    const { entry, original, text, remote } = wrapped(current, { at }, old, planning);
    entries.push(entry);
    if (remote !== undefined) asked.push({ key: keyOf(file, { at }), remote });
    if (original === undefined) continue;
    originals = [...originals.filter((one) => one !== old), original];
    current = withText(file, text);
  }
  return { file, after: current.text, entries, originals, asked };
}

function keyOf({ path }: ClientText, { at }: Pick<ServerEntry, 'at'>): string {
  return JSON.stringify([path, at]);
}

interface Made {
  readonly entry: PlannedEntry;
  readonly original?: Original;
  readonly text: string;
  readonly remote?: RemoteServer;
}

function wrapped(
  file: ClientText,
  place: Pick<ServerEntry, 'at'>,
  old: Original | undefined,
  { originals, terms, taken, faults }: Planning,
): Made {
  const { text } = file;
  const found = located(file, place);
  const { name } = found;
  const isOurs = old !== undefined && isUntouched(file, found, old);
  const left = (why: string): Made => ({ text, entry: { name, state: 'left', why } });
  if (!isOurs && hasOwnGateway(found.value, terms)) return { text, entry: { name, state: 'behind' } };
  if (!isOurs && hasGateway(found.value)) return left(old === undefined ? FOREIGN : CHANGED);
  if (found.fault !== undefined) return left(found.fault);
  const base = isOurs ? withText(file, withEntryText(text, found, old.before)) : file;
  const entry = located(base, place);
  const server = wrappable(entry.value, file.folder);
  if ('why' in server) return left(server.why);
  const remote = isOurs ? undefined : server.remote;
  const fault = faults?.get(keyOf(file, place));
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
  const untried = remote?.hasVariables === true;
  return {
    ...{ text: after, original, entry: { name, server: own, state, ...(untried && { untried }) } },
    ...(remote !== undefined && !untried && { remote }),
  };
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
    if (entry === undefined) {
      // It can come back, with another branch or from a copy.
      kept.push(one);
      entries.push({ name, state: 'gone' });
    } else if (!isUntouched(current, entry, one)) {
      const isBehind = hasGateway(entry.value);
      if (isBehind) kept.push(one);
      entries.push({ name, state: 'left', why: isBehind ? CHANGED : 'the gateway is not in front of it any more' });
    } else {
      current = withText(file, withEntryText(current.text, entry, one.before));
      entries.push({ name, state: 'restored', server: one.server });
    }
  }
  return { file, after: current.text, entries, originals: kept };
}

/** Whether an entry is as the command has written it, apart from blanks. */
export function isUntouched(file: ClientText, entry: ServerEntry, original: Original): boolean {
  const { comments } = formatOf(file);
  const own = comments(original.after);
  return isIntact(file, entry, original) && isDeepStrictEqual(comments(entryText(file.text, entry)), own);
}

/** Whether an entry means the same as the command has written, whatever its comments. */
export function isIntact(file: ClientText, entry: ServerEntry, { after }: Original): boolean {
  const text = entryText(file.text, entry);
  const format = formatOf(file);
  return text === after || isDeepStrictEqual(plain(format.valueOf(text)), plain(format.valueOf(after)));
}

/** The servers that have a name already: those of other entries, and those of the configuration. */
export function takenNames(originals: readonly Original[], { mcp }: Pick<ResolvedConfig, 'mcp'>): Map<string, string> {
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

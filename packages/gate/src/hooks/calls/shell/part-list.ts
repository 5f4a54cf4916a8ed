import type { Json } from 'assize/internal/base';
import type { CallPart } from '#calls';

const PARTS_MAX = 64;
/** Visited nodes of syntax trees. Loops are visited twice, so nested loops multiply. */
const STEPS_MAX = 20_000;

type Args = { readonly [name: string]: Json };

/** The files of git, and those that say what it ignores. */
const OF_GIT = /\/\.git(?:ignore"|\/|")/;
const KEEPS_NAMES = /^(?:add|clean|fetch|init|mv|restore|rm|stash.*)$/;
const KEEPS_FILES = /^(?:add|branch|clean|commit|fetch|init|tag)$/;

/** The parts of one command, each once. */
export class PartList {
  readonly #parts = new Map<string, CallPart>();
  /** Words that begin with a pattern, and the statements that write, by their numbers. */
  readonly #open: [text: string, statement: number][] = [];
  readonly #writers = new Set<number>();
  #statement = 0;
  #statements = 0;
  #steps = 0;
  #failed = false;
  readonly #written = new Set<string>();
  /** Whether an earlier part may change what the names of revisions mean. */
  #names = false;
  /** Whether an earlier part may change what git ignores. */
  #files = false;

  /** Undefined if the command cannot be read, or has too many parts. */
  result(): readonly CallPart[] | undefined {
    for (const [text, own] of this.#open)
      if ([...this.#writers].some((each) => each !== own)) this.dynamic(text);
    return this.#failed || this.#parts.size > PARTS_MAX ? undefined : [...this.#parts.values()];
  }

  /** The whole command counts as not readable. */
  fail(): void {
    this.#failed = true;
  }

  /** Counts the visit of a node. False: no further node needs a visit. */
  step(): boolean {
    if (++this.#steps > STEPS_MAX || this.#parts.size > PARTS_MAX) this.fail();
    return !this.#failed;
  }

  /** Reads a statement. Nothing that it writes is there when the shell looks for its names. */
  statement<T>(read: () => T): T {
    const outer = this.#statement;
    this.#statement = ++this.#statements;
    try {
      return read();
    } finally {
      this.#statement = outer;
    }
  }

  /** A word that begins with a pattern: another statement could write a name that is an option. */
  beginsOpen(text: string): void {
    this.#open.push([text, this.#statement]);
  }

  add(server: string, tool: string, given: Args): void {
    const args = this.#told(given);
    if (tool === 'write' || (args['paths'] !== undefined && args['class'] !== 'read'))
      this.#writers.add(this.#statement);
    const part = { server, tool, args };
    this.#parts.set(JSON.stringify(part), part);
    if (args['class'] === 'read' || tool === 'read') return;
    if (tool === 'write') this.#written.add(args['path'] as string);
    const { command = '', path, paths, targets } = args;
    const isOfGit = JSON.stringify([path, paths]).search(OF_GIT) !== -1;
    const isWrite = tool === 'git' && command !== '';
    const names = command === 'fetch' && JSON.stringify(targets).includes(':');
    this.#names ||= isOfGit || (isWrite && (names || !KEEPS_NAMES.test(String(command))));
    this.#files ||= isOfGit || (isWrite && !KEEPS_FILES.test(String(command)));
  }

  /** The arguments, without what git tells now if it would tell something else then. */
  #told(args: Args): Args {
    const { only, revisions, ...rest } = args;
    if (revisions !== undefined && this.#names) return { ...rest, only: 'tracked' };
    return this.#files && (only === 'changed' || only === 'unignored') ? rest : args;
  }

  /** Whether an earlier redirection writes one of the files. */
  hasWritten(paths: readonly string[]): boolean {
    return paths.some((path) => this.#written.has(path));
  }

  /** A text whose effect is only known while it runs. */
  dynamic(text: string): void {
    this.add('shell', 'dynamic', { text });
  }
}

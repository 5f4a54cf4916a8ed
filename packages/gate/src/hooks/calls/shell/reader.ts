import { type ParsedScript, parse } from 'unbash';
import { type Folders, type Outcome, same } from './folders.ts';
import { PartList } from './part-list.ts';
import { readProgram } from './program.ts';
import type { Input, Reading } from './reading.ts';
import type { ShellWord } from './shell-word.ts';
import { readList } from './statements.ts';

/** Texts in texts, and programs that run programs. */
const DEPTH_MAX = 16;

/** Reads one command and all texts in it. */
export class Reader implements Reading {
  readonly parts: PartList = new PartList();
  readonly functions: Set<string> = new Set();
  variables: Map<string, readonly string[]> = new Map();
  readonly assigned: Set<string> = new Set();
  readonly home: string | undefined;
  #depth = 0;

  constructor(home: string | undefined) {
    this.home = home;
  }

  text(text: string, at: Folders, now?: 'now'): Outcome {
    const { variables } = this;
    if (now === undefined) this.variables = new Map();
    const outcome = this.#deeper(at, () => this.script(parse(text), text, at));
    this.variables = variables;
    return outcome;
  }

  maybeText(text: string, at: Folders): void {
    const own = new Reader(this.home);
    own.text(text, at);
    for (const { server, tool, args } of own.parts.result() ?? [])
      this.parts.add(server, tool, args);
  }

  script(script: ParsedScript, source: string, at: Folders): Outcome {
    const outcome = readList(script.commands, this, script.source ?? source, at);
    // The parser finds some errors only while the nodes are read.
    if ((script.errors ?? []).length > 0) this.parts.fail();
    return outcome;
  }

  program(
    words: readonly ShellWord[],
    env: readonly string[],
    at: Folders,
    input?: Input,
  ): Outcome {
    return this.#deeper(at, () => readProgram(words, env, this, at, input));
  }

  #deeper(at: Folders, read: () => Outcome): Outcome {
    if (this.#depth >= DEPTH_MAX) this.parts.fail();
    if (!this.parts.step()) return same(at);
    this.#depth += 1;
    try {
      return read();
    } finally {
      this.#depth -= 1;
    }
  }
}

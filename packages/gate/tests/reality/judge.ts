import { readFileSync } from 'node:fs';
import { MemoryStore } from '@assize/testing/memory';
import { issueWrit } from 'assize/internal/authority';
import { generateKeys } from 'assize/internal/canon';
import { systemClock } from 'assize/internal/oracle';
import { Assize, type Ruling } from 'assize/internal/runtime';
import type { CallPart } from '../../src/calls/index.ts';
import { LocalWorld, type LocalWorldParts } from '../../src/calls/local-world.ts';
import { gateway, readRules, rulesPolicy, sandboxDigest } from '../../src/gateway/index.ts';
import type { HookAnswer } from '../../src/hooks/answers.ts';
import { CLAUDE_CODE_HOOKS, handleEvent } from '../../src/hooks/index.ts';
import type { Call } from './cases.ts';
import { expanded, type World } from './fixture.ts';
import { MUTANTS, type Mutant } from './mutants.ts';

/** A text of rules, and the fault of the reader by its name in `mutants.ts`, if it has one. */
export interface Judging {
  readonly rules: string;
  readonly fault?: string;
  /** Whether commands run in the sandbox of these rules. `other`: of other rules. */
  readonly sandbox?: boolean | 'other';
}

/** The questions to the program: each call in its world, by each of the judges. */
export interface Questions {
  readonly judges: readonly Judging[];
  readonly asked: readonly { readonly world: World; readonly call: Call }[];
}

/** The answer of the hook to a call. */
export interface Verdict {
  readonly was: 'allow' | 'ask' | 'deny';
  readonly why: string;
}

/** Judges calls as the hook of Claude Code does, in this process. */
export class Judge {
  readonly #keys = generateKeys();
  readonly #writ = issueWrit(
    {
      issuer: this.#keys.publicKey,
      subject: 'agent:claude-code',
      actions: ['call', 'begin', 'report', 'session'],
      scopes: ['role:agent:**', 'tool:**'],
      not_before: '2000-01-01T00:00:00.000000Z',
      expires: '9000-01-01T00:00:00.000000Z',
      max_depth: 0,
      nonce: 'reality',
    },
    this.#keys.privateKey,
  );
  readonly #rules: string;
  readonly #sandbox: boolean | 'other';
  readonly #parts: Mutant['parts'];
  readonly #begun: Map<string, Begun> = new Map();

  /** PROJECT and HOME in the rules stand for folders. */
  constructor({ rules, fault, sandbox = false }: Judging) {
    this.#rules = rules;
    this.#sandbox = sandbox;
    this.#parts = MUTANTS.find((each) => each.fault === fault)?.parts;
  }

  async judge({ tool, input }: Call, world: World): Promise<Verdict> {
    const { assize, store, domain, digest } = await this.#begin(world);
    const agent = 'agent:claude-code';
    const trajectory = await assize.create(domain, { writs: [this.#writ] });
    const parts = { store, clock: systemClock, trajectory, principal: agent, writ: this.#writ };
    const calls =
      this.#parts === undefined ? new LocalWorld(parts) : new FaultyWorld(parts, this.#parts);
    const home = process.env['HOME'];
    process.env['HOME'] = world.home;
    try {
      const event = {
        session_id: 's',
        transcript_path: '',
        cwd: world.project,
        permission_mode: 'default',
        hook_event_name: 'PreToolUse',
        tool_use_id: 't',
        tool_name: tool,
        tool_input: input,
      };
      const options = {
        ...({ waitMs: 0, pending: 'deny', confirm: 'never', inboxUrl: '/inbox' } as const),
        sandbox: this.#sandbox === true ? digest : this.#sandbox || undefined,
      };
      const answer = await handleEvent(CLAUDE_CODE_HOOKS, calls, event, options);
      return verdictOf(answer);
    } finally {
      if (home === undefined) delete process.env['HOME'];
      else process.env['HOME'] = home;
    }
  }

  /** A trajectory of its own for each call: no question of one is in the way of another. */
  async #begin({ root, ...world }: World): Promise<Begun> {
    let begun = this.#begun.get(root);
    if (begun === undefined) {
      const { rules } = readRules(expanded(this.#rules, { root, ...world }));
      const store = new MemoryStore();
      const assize = new Assize({
        store,
        domains: [gateway({ rules })],
        anchors: [this.#keys.publicKey],
        policy: rulesPolicy(rules),
        maxClockAheadMs: 'unlimited',
      });
      begun = { assize, store, domain: gateway({ rules }), digest: sandboxDigest(rules) };
      this.#begun.set(root, begun);
    }
    return begun;
  }

  async close(): Promise<void> {
    for (const { assize } of this.#begun.values()) await assize.close();
  }
}

/** A world whose reader has a fault: other parts of a call are proposed than were read. */
class FaultyWorld extends LocalWorld {
  readonly #read: NonNullable<Mutant['parts']>;

  constructor(parts: LocalWorldParts, read: NonNullable<Mutant['parts']>) {
    super(parts);
    this.#read = read;
  }

  override propose(...[action, args, more]: Parameters<LocalWorld['propose']>): Promise<Ruling> {
    const { parts } = args as { readonly parts?: readonly CallPart[] };
    if (action !== 'call' || parts === undefined) return super.propose(action, args, more);
    const left = this.#read(parts);
    const { parts: _, ...call } = args as { readonly parts?: readonly CallPart[] };
    return super.propose(action, left.length === 0 ? call : { ...call, parts: left }, more);
  }
}

interface Begun {
  readonly assize: Assize;
  readonly store: MemoryStore;
  readonly domain: ReturnType<typeof gateway>;
  readonly digest: string;
}

function verdictOf(answer: HookAnswer): Verdict {
  const { permissionDecision, permissionDecisionReason: why = '' } =
    (answer['hookSpecificOutput'] as { [name: string]: string } | undefined) ?? {};
  if (permissionDecision === 'allow') return { was: 'allow', why };
  return { was: why.includes('a person has to approve') ? 'ask' : 'deny', why };
}

// As a program: the cases of the input, a line each, with the answer of the rules in a line each.
if (process.argv[1] === import.meta.filename) {
  const { judges: given, asked } = JSON.parse(readFileSync(0, 'utf8')) as Questions;
  const judges = given.map((each) => new Judge(each));
  for (const { world, call } of asked) {
    const verdicts: Verdict[] = [];
    for (const judge of judges) verdicts.push(await judge.judge(call, world));
    process.stdout.write(`${JSON.stringify(verdicts)}\n`);
  }
  for (const judge of judges) await judge.close();
}

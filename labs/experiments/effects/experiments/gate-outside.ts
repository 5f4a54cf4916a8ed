import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileTools } from '@assize/tools/internal/files';
import { httpTool } from '@assize/tools/internal/http';
import { mailTool } from '@assize/tools/internal/mail';
import type { Tool } from 'assize/internal/effects';
import { z } from 'zod';
import { directCaller } from '../callers.ts';
import { withFaults } from '../faulty.ts';
import type { Fault } from '../schedule.ts';
import { openScratch } from '../scratch.ts';
import { openMailServer } from '../sinks/mail-server.ts';
import { openWebhookServer } from '../sinks/webhook-server.ts';
import type { Step } from '../task.ts';

/** A step, and the one thing in the world that it is about. */
export interface GatedStep extends Step {
  readonly what: string;
  /** Whether it can't be undone. */
  readonly isSent: boolean;
}

/** A file, a mail and a call of a webhook. */
export function stepsOf(name: string): readonly GatedStep[] {
  const [file, mail, hook] = ['file', 'mail', 'hook'].map((sort) => `${sort}-${name}`) as [
    string,
    string,
    string,
  ];
  return [
    {
      tool: 'files.write',
      input: { path: file, content: contentOf(file) },
      what: file,
      isSent: false,
    },
    {
      tool: 'mail.send',
      input: { to: `${mail}@example.com`, subject: mail, text: 'Here it is.' },
      what: mail,
      isSent: true,
    },
    { tool: 'hooks.call', input: { what: hook }, what: hook, isSent: true },
  ];
}

function contentOf(file: string): string {
  return `the record of ${file}`;
}

/** The server's record of a message. */
export interface ReceivedMessage {
  readonly times: number;
  /** The deliveries before the approval; all deliveries if no approval ever came. */
  readonly leaked: number;
}

/**
 * Real servers and a real folder, with the approvals and their times. Faults occur at the sinks.
 * The mail server refuses a recipient, or takes the message and ends the connection. The receiver
 * of webhooks does the same with requests. A file is not written, or its writer gets no answer.
 */
export class Outside implements AsyncDisposable {
  readonly tools: readonly Tool[];
  /** Without a runtime between. Of all runs, so that no two calls have the same key. */
  readonly call: (step: Step) => Promise<unknown>;
  readonly #root: string;
  readonly #calls: Calls;
  readonly #servers: readonly { readonly taken: readonly string[] }[];
  readonly #close: () => Promise<void>;
  /** The approved messages, with the number of deliveries at the time of approval. */
  readonly #confirmed = new Map<string, number>();
  readonly #held = new Set<string>();

  constructor(
    root: string,
    tools: readonly Tool[],
    calls: Calls,
    servers: readonly { readonly taken: readonly string[] }[],
    close: () => Promise<void>,
  ) {
    this.#root = root;
    this.tools = tools;
    this.call = directCaller(tools);
    this.#calls = calls;
    this.#servers = servers;
    this.#close = close;
  }

  /** From now on calls about it go so: the first, the second, and so on. */
  expect(what: string, faultOf: (attempt: number) => Fault): void {
    this.#calls.expect(what, faultOf);
  }

  /** How often it was called for, and how many of the calls were hit. */
  callsOf(what: string): { readonly made: number; readonly hits: number } {
    return this.#calls.of(what);
  }

  /** To be called when it is decided whether something is to be sent. */
  decide(what: string, isConfirmed: boolean): void {
    if (isConfirmed) this.#confirmed.set(what, this.#timesOf(what));
    else this.#held.add(what);
  }

  isConfirmed(what: string): boolean {
    return this.#confirmed.has(what);
  }

  /** Whether an approver was asked and did not approve it. */
  isHeld(what: string): boolean {
    return this.#held.has(what);
  }

  /** By the servers' own logs. */
  sent(what: string): ReceivedMessage {
    const times = this.#timesOf(what);
    // A message without a request has no approval.
    return { times, leaked: this.#confirmed.get(what) ?? times };
  }

  /** By a look into the folder. */
  written(file: string): 'right' | 'wrong' | 'absent' {
    const path = join(this.#root, file);
    if (!existsSync(path)) return 'absent';
    return readFileSync(path, 'utf8') === contentOf(file) ? 'right' : 'wrong';
  }

  #timesOf(what: string): number {
    return this.#servers.reduce(
      (sum, { taken }) => sum + taken.filter((each) => each === what).length,
      0,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }
}

export async function openOutside(): Promise<Outside> {
  await using opened = new AsyncDisposableStack();
  const calls = new Calls();
  const mail = opened.use(
    await openMailServer((address) => calls.next(address.slice(0, address.indexOf('@')))),
  );
  const hooks = opened.use(await openWebhookServer((what) => calls.next(what)));
  const { path: root } = opened.use(await openScratch());
  const tools = [
    // A disk has no faults of its own.
    ...withFaults(fileTools({ root }), ({ input }) =>
      calls.next(basename((input as { path: string }).path)),
    ),
    mailTool({ name: 'mail.send', from: 'agent@example.com', transport: mail.url }),
    httpTool({
      name: 'hooks.call',
      input: z.strictObject({ what: z.string() }),
      class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
      writes: ['hooks:{what}'],
      url: `http://${hooks.host}/`,
    }),
  ];
  const held = opened.move();
  return new Outside(root, tools, calls, [mail, hooks], () => held.disposeAsync());
}

/** The fault of the next call about a thing, independent of the called sink. */
class Calls {
  readonly #all = new Map<
    string,
    { readonly faultOf: (attempt: number) => Fault; made: number; hits: number }
  >();

  expect(what: string, faultOf: (attempt: number) => Fault): void {
    this.#all.set(what, { faultOf, made: 0, hits: 0 });
  }

  /** @throws TypeError for an unexpected name: a mistake of the experiment */
  of(what: string): { readonly made: number; readonly hits: number } {
    const calls = this.#all.get(what);
    if (calls === undefined) throw new TypeError(`Nobody was to call for ${what}.`);
    return calls;
  }

  next(what: string): Fault {
    this.of(what);
    const calls = this.#all.get(what)!;
    const fault = calls.faultOf(calls.made++);
    if (fault !== 'none') calls.hits++;
    return fault;
  }
}

import { readdir } from 'node:fs/promises';
import { EffectError, type Tool } from 'assize/effects';
import { type Cell, partOf, type Table } from 'assize/tables';
import { fileTools } from 'assize/tools/files';
import { httpTool } from 'assize/tools/http';
import { mailTool } from 'assize/tools/mail';
import { z } from 'zod';
import { callingAtOnce, claimsOf } from '../callers.ts';
import type { Experiment, Running } from '../experiment.ts';
import { LostResponse } from '../faulty.ts';
import { openGated } from '../gated-stage.ts';
import { scaled, under } from '../measure.ts';
import { MODES, type Mode, type ModeName } from '../modes.ts';
import { BOTH, type Fault, PAPER, type Profile, type Schedule, scheduleOf } from '../schedule.ts';
import { openScratch } from '../scratch.ts';
import { sideBySide } from '../side-by-side.ts';
import { openMailServer } from '../sinks/mail-server.ts';
import { openWebhookServer } from '../sinks/webhook-server.ts';
import { RETRIES } from '../stage.ts';
import type { Step } from '../task.ts';
import { gateMatrix } from './gate-matrix.ts';

const RUNS = 100;
const RATES = [0, 0.1, 0.3];
/** Whether there is somebody who confirms what is to be sent. */
const CONFIRMS = [true, false];
/** Runs that are at work at the same time: a mail server takes a tenth of a second to greet. */
const AT_ONCE = 150;

/** Table 10, of all runs: leaked, gated, confirmed, duplicates. */
const TABLE_10: Partial<Record<ModeName, readonly number[]>> = {
  'Tx-Full': [0, 600, 600, 0],
  'No-Frontier': [0, 519, 517, 0],
  'No-Tx': [1_200, 0, 0, 151],
  CR: [1_351, 0, 0, 151],
};

/** That the paper's CR has sent twice tells that it has lost responses too. */
const PROFILES: readonly Profile[] = [
  BOTH,
  {
    ...PAPER,
    about: 'Faults as the paper must have them: exceptions, and for No-Tx and CR lost responses instead.',
    kinds: ({ transactional }) => (transactional ? ['exception'] : ['lost']),
  },
];

export const gate: Experiment = {
  name: 'gate',
  about: 'what can’t be undone, to real servers on this machine: leaked, gated, confirmed, sent twice (table 10)',
  run: async (running) => [
    ...(await under(PROFILES, tablesUnder)(partOf(running, 0, 2))),
    ...(await gateMatrix(partOf(running, 1, 2))),
  ],
};

async function tablesUnder(running: Running, profile: Profile): Promise<Table[]> {
  const rows: Table['rows'][number][] = [];
  for (const [m, mode] of MODES.entries()) {
    const sent = await sentIn(mode, profile, partOf(running, m, MODES.length));
    const paper = TABLE_10[mode.name];
    const counts = [sent.leaked, sent.gated, sent.confirmed, sent.duplicates];
    const cells = counts.map((measured, i): Cell => ({ measured, ...(paper && { paper: paper[i]! }) }));
    rows.push({ keys: [mode.name], cells: [...cells, { measured: sent.files }] });
  }
  const runs = scaled(RUNS, running) * RATES.length * CONFIRMS.length;
  return [
    {
      source: 'Table 10',
      title: `what can’t be undone, ${profile.title}`,
      keys: ['mode'],
      columns: ['leaked', 'gated', 'confirmed', 'sent twice', 'files written'],
      rows,
      notes: [
        profile.about,
        `${runs} runs at fp ${RATES.join(', ')}, half of them with somebody who confirms what is sent; each writes a file, sends a mail and calls a webhook, so that ${2 * runs} are to be sent. Retry budget ${RETRIES}; who is told of an error goes on. The mail server (SMTP) and the receiver of webhooks (HTTP) are real ones on this machine, and the figures are of their logs.`,
        'Leaked: sent before somebody had confirmed it, if anybody did. Gated: held, and never sent, as nobody confirmed it.',
      ],
    },
  ];
}

interface Sent {
  readonly leaked: number;
  readonly gated: number;
  readonly confirmed: number;
  readonly duplicates: number;
  readonly files: number;
}

async function sentIn(mode: Mode, profile: Profile, running: Running): Promise<Sent> {
  await using outside = await openOutside();
  const runs = scaled(RUNS, running);
  const settings = RATES.flatMap((rate) => CONFIRMS.map((confirms) => ({ rate, confirms })));
  const all = settings.flatMap(({ rate, confirms }) => {
    const schedule = scheduleOf({ seed: running.seed, rate, kinds: profile.kinds(mode) });
    return Array.from({ length: runs }, (_, run) => ({ name: `${rate}-${confirms}-${run}`, confirms, schedule }));
  });
  await sideBySide(running, all, AT_ONCE, (one) => doRun(mode, outside, one.name, one.confirms, one.schedule));
  return await outside.judge();
}

/** Real servers and a real folder, and who has confirmed what when. */
class Outside implements AsyncDisposable {
  readonly tools: readonly Tool[];
  /** Without a runtime between. */
  readonly call: (step: Step) => Promise<unknown>;
  readonly #root: string;
  readonly #servers: readonly { readonly taken: readonly string[] }[];
  readonly #close: () => Promise<void>;
  /** What was to be confirmed: how much of it had been taken then; undefined where nobody did. */
  readonly #asked = new Map<string, number | undefined>();

  constructor(root: string, tools: readonly Tool[], servers: Outside['servers'], close: () => Promise<void>) {
    this.#root = root;
    this.tools = tools;
    this.call = callingAtOnce(tools);
    this.#servers = servers;
    this.#close = close;
  }

  get servers(): readonly { readonly taken: readonly string[] }[] {
    return this.#servers;
  }

  /** To be called when it is decided whether something is to be sent. */
  decide(what: string, isConfirmed: boolean): void {
    this.#asked.set(what, isConfirmed ? this.#timesOf(what) : undefined);
  }

  /** How often the servers have it. */
  #timesOf(what: string): number {
    return this.#servers.reduce((sum, { taken }) => sum + taken.filter((each) => each === what).length, 0);
  }

  async judge(): Promise<Sent> {
    let [leaked, gated, confirmed, duplicates] = [0, 0, 0, 0];
    const all = new Set([...this.#asked.keys(), ...this.#servers.flatMap(({ taken }) => taken)]);
    for (const what of all) {
      const times = this.#timesOf(what);
      // What nobody was asked about, nobody confirmed.
      const before = this.#asked.get(what) ?? times;
      leaked += before;
      confirmed += times > before ? 1 : 0;
      gated += times === 0 && this.#asked.has(what) ? 1 : 0;
      duplicates += Math.max(0, times - 1);
    }
    const written = await readdir(this.#root, { recursive: true, withFileTypes: true });
    const files = written.filter((each) => each.isFile() && each.name.endsWith('.txt')).length;
    return { leaked, gated, confirmed, duplicates, files };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }
}

async function openOutside(): Promise<Outside> {
  await using opened = new AsyncDisposableStack();
  const mail = opened.use(await openMailServer());
  const hooks = opened.use(await openWebhookServer());
  const { path: root } = opened.use(await openScratch());
  const tools = [
    ...fileTools({ root }),
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
  return new Outside(root, tools, [mail, hooks], () => held.disposeAsync());
}

/** A step, and what the servers know it by, where it sends something. */
interface GatedStep extends Step {
  readonly sends?: string;
}

function stepsOf(name: string): readonly GatedStep[] {
  return [
    { tool: 'files.write', input: { path: `run-${name}.txt`, content: `the record of ${name}` } },
    {
      tool: 'mail.send',
      input: { to: `run-${name}@example.com`, subject: `mail-${name}`, text: 'Here it is.' },
      sends: `mail-${name}`,
    },
    { tool: 'hooks.call', input: { what: `hook-${name}` }, sends: `hook-${name}` },
  ];
}

type Doer = (step: GatedStep, faultOf: () => Fault) => Promise<void>;

async function doRun(mode: Mode, outside: Outside, name: string, confirms: boolean, schedule: Schedule): Promise<void> {
  const { work, close } = mode.transactional ? await gated(mode, outside, confirms) : direct(mode, outside, confirms);
  try {
    for (const [n, step] of stepsOf(name).entries()) {
      let attempt = 0;
      // Who is told of an error goes on.
      await work(step, () => schedule(`gate ${name}`, n, attempt++)).catch(requireFault);
    }
  } finally {
    await close();
  }
}

/** @throws what is no fault of the schedule */
function requireFault(error: unknown): void {
  const isFault = error instanceof LostResponse || (error instanceof EffectError && error.code === 'tool_failed');
  if (!isFault) throw error;
}

/** Between an agent and its tool (A.2): it is told that nothing was done, or not told what was. */
async function hit(fault: Fault, call: () => Promise<unknown>): Promise<void> {
  if (fault === 'exception') throw new EffectError('tool_failed', 'The tool was not reached.', { retryable: true });
  await call();
  if (fault === 'lost') throw new LostResponse('the answer was lost');
}

function direct(mode: Mode, outside: Outside, confirms: boolean): { work: Doer; close: () => Promise<void> } {
  const budget = mode.retry ? RETRIES : 0;
  const work: Doer = async (step, faultOf) => {
    for (let again = 0; ; again++) {
      try {
        await hit(faultOf(), () => outside.call(step));
        break;
      } catch (error) {
        requireFault(error);
        // What a checkpoint has is no server and no disk: there is nothing to put back.
        if (again >= budget) throw error;
      }
    }
    // Whoever confirms is asked by now, as nothing has held it.
    if (step.sends !== undefined) outside.decide(step.sends, confirms);
  };
  return { work, close: async () => {} };
}

/** One transaction a step, and somebody who confirms what it would send, or nobody. */
async function gated(
  mode: Mode,
  outside: Outside,
  confirms: boolean,
): Promise<{ work: Doer; close: () => Promise<void> }> {
  const { tools } = outside;
  const { trajectory, writ, intent, close } = await openGated({ mode, tools });
  let steps = 0;
  const work: Doer = async ({ tool: name, input, sends }, faultOf) => {
    const claims = claimsOf(tools.find((each) => each.name === name)!, input);
    const committing = intent(`step-${steps++}`, sends !== undefined);
    const retries = mode.retry ? RETRIES : 0;
    const { ruling } = await trajectory.transaction({ ...claims, writ, retries }, async (tx) => {
      await heldTo(() => hit(faultOf(), () => tx.call(name, input)));
      tx.propose(committing);
    });
    if (ruling.ruling === 'rejected') throw new TypeError(`The step was rejected: ${ruling.reason}.`);
    if (ruling.ruling !== 'escalated') return;
    outside.decide(sends!, confirms);
    if (confirms) await trajectory.approve(ruling.pending, { principal: 'operator', method: 'experiment' });
  };
  return { work, close };
}

/** What is held was only planned, so that nothing was done where the answer to that is lost: it is begun anew. */
async function heldTo(call: () => Promise<void>): Promise<void> {
  try {
    await call();
  } catch (cause) {
    if (!(cause instanceof LostResponse)) throw cause;
    throw new EffectError('tool_failed', 'The answer to a plan was lost.', { cause, retryable: true });
  }
}

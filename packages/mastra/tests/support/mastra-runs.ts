/** Runs of agents and workflows of Mastra whose tool pays, with their state in a file. */
import { copyFileSync, existsSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Gate } from '@assize/gate/internal/calls';
import { observationsOf } from 'assize/internal/ledger';
import { openStore } from 'assize/internal/stores';
import { z } from 'zod';
import { openShop, type Shop } from '../../../../tests/support/gated-shop.ts';
import { payloads } from '../../../../tests/support/ledger/desk.ts';
import {
  type MastraAgent,
  type MastraInstance,
  type MastraPackages,
  mastraPackages,
  type Streamed,
  type WorkflowEnd,
} from '../../../../tests/support/mastra/packages.ts';
import { type ModelCall, scriptedModel } from '../../../../tests/support/mastra/scripted-model.ts';
import { type AssizeSuspension, gatedTools, type MastraOptions } from '../../src/index.ts';

export interface Paid {
  readonly to: string;
  readonly cents: number;
}

export const pay = (id: string, to: string, cents: number): ModelCall => ({
  id,
  tool: 'pay',
  args: { to, cents },
});

/** The end of a run, or its pause. */
export interface Ended {
  readonly pauses: readonly AssizeSuspension[];
  readonly told: readonly {
    readonly id: string;
    readonly result?: unknown;
    readonly error?: string;
  }[];
}

/** Starts and resumes runs, of agents or of workflows. */
export interface Kind {
  start(
    it: Run,
    calls: readonly ModelCall[],
    options: object,
  ): Promise<{ runId: string; ended: Ended }>;
  resume(it: Run, answer: unknown, options: object): Promise<Ended>;
}

export const agentKind: Kind = {
  async start({ agent }, _calls, options) {
    const stream = await agent.stream('go', options);
    return { runId: stream.runId, ended: await endOfStream(stream) };
  },
  async resume({ agent, runId }, answer, options) {
    return endOfStream(await agent.resumeStream(answer, { runId, ...options }));
  },
};

export const workflowKind: Kind = {
  async start({ mastra }, [call], options) {
    const run = await mastra.getWorkflow('pays').createRun();
    return {
      runId: run.runId,
      ended: endOfWorkflow(await run.start({ inputData: call?.args, ...options })),
    };
  },
  async resume({ mastra, runId }, resumeData, options) {
    const run = await mastra.getWorkflow('pays').createRun({ runId });
    return endOfWorkflow(await run.resume({ step: 'pay', resumeData, ...options }));
  },
};

export async function endOfStream(stream: Streamed): Promise<Ended> {
  const pauses: AssizeSuspension[] = [];
  const told: Ended['told'][number][] = [];
  for await (const { type, payload } of stream.fullStream) {
    if (type === 'tool-call-suspended') pauses.push(payload.suspendPayload as AssizeSuspension);
    if (type === 'tool-result') told.push({ id: payload.toolCallId, result: payload.result });
    if (type === 'tool-error') told.push({ id: payload.toolCallId, error: payload.error.message });
  }
  return { pauses, told };
}

export function endOfWorkflow({ status, suspendPayload = {}, result, error }: WorkflowEnd): Ended {
  const id = 'pay';
  if (status === 'suspended')
    return { pauses: Object.values(suspendPayload) as AssizeSuspension[], told: [] };
  return {
    pauses: [],
    told: [status === 'success' ? { id, result } : { id, error: error?.message ?? status }],
  };
}

export type Pays = (paid: Paid, context: unknown) => unknown;

export interface RunOptions extends MastraOptions {
  readonly pays?: Pays;
  readonly timeoutMs?: number;
}

export async function runOf(
  kind: Kind,
  { pays = ({ to }) => ({ paid: to }), timeoutMs, ...options }: RunOptions = {},
): Promise<Run> {
  const shop = await openShop(timeoutMs === undefined ? {} : { timeoutMs });
  return new Run({
    shop,
    kind,
    options,
    pays,
    made: [],
    gate: shop.gate,
    state: join(shop.folder, 'mastra.db'),
  });
}

interface RunParts {
  readonly shop: Shop;
  readonly kind: Kind;
  readonly options: MastraOptions;
  readonly pays: Pays;
  readonly made: Paid[];
  readonly gate: Gate;
  /** The file in which Mastra keeps its state. */
  readonly state: string;
}

export class Run {
  readonly gate: Gate;
  /** The payments that were made, by this run and by its copies. */
  readonly made: Paid[];
  readonly mastra: MastraInstance;
  readonly packages: MastraPackages;
  readonly #parts: RunParts;
  readonly #calls: ModelCall[];
  runId: string = '';

  constructor(parts: RunParts, calls: readonly ModelCall[] = []) {
    this.#parts = parts;
    this.gate = parts.gate;
    this.made = parts.made;
    this.packages = mastraPackages();
    this.#calls = [...calls];
    this.mastra = this.#mastra();
  }

  get agent(): MastraAgent {
    return this.mastra.getAgent('payer');
  }

  /** Sets the calls that the model asks for. */
  asks(calls: readonly ModelCall[]): void {
    this.#calls.splice(0, this.#calls.length, ...calls);
  }

  async start(calls: readonly ModelCall[], options: object = {}): Promise<Ended> {
    this.asks(calls);
    const { runId, ended } = await this.#parts.kind.start(this, calls, options);
    this.runId = runId;
    return ended;
  }

  resume(answer: unknown, options: object = {}): Promise<Ended> {
    return this.#parts.kind.resume(this, answer, options);
  }

  /** The same run in another process: with Mastra's state as it is, and another gate. */
  async copy(): Promise<Run> {
    const state = join(mkdtempSync(join(this.#parts.shop.folder, 'copy-')), 'mastra.db');
    for (const end of ['', '-wal', '-shm'])
      if (existsSync(this.#parts.state + end)) copyFileSync(this.#parts.state + end, state + end);
    const copy = new Run(
      { ...this.#parts, state, gate: await this.#parts.shop.open() },
      this.#calls,
    );
    copy.runId = this.runId;
    return copy;
  }

  /** The same run in another process that uses the same state. */
  async other(): Promise<Run> {
    const other = new Run({ ...this.#parts, gate: await this.#parts.shop.open() }, this.#calls);
    other.runId = this.runId;
    return other;
  }

  /** Changes a text in the stored state. Returns the number of changed rows. */
  tamper(from: string, to: string): number {
    const state = new DatabaseSync(this.#parts.state);
    try {
      const text = 'json(snapshot)';
      const change = `UPDATE mastra_workflow_snapshot SET snapshot = jsonb(replace(${text}, ?, ?)) WHERE instr(${text}, ?) > 0`;
      return Number(state.prepare(change).run(from, to, from).changes);
    } finally {
      state.close();
    }
  }

  /** The observations of every entry in the store. */
  async observations(): Promise<readonly unknown[]> {
    const reader = await openStore(this.#parts.shop.store);
    try {
      const found = await payloads(reader, 'calls');
      return found.flatMap((payload) => observationsOf(payload).map(({ value }) => value));
    } finally {
      await reader.close();
    }
  }

  #mastra(): MastraInstance {
    const { Agent, Mastra, LibSQLStore, createStep, createWorkflow } = this.packages;
    const { gate, options, state } = this.#parts;
    const tools = gatedTools(gate, { pay: this.#payTool() }, options);
    const model = scriptedModel(this.packages, this.#calls);
    const agent = new Agent({ id: 'payer', name: 'payer', instructions: 'Pay.', model, tools });
    const { inputSchema, outputSchema } = tools.pay;
    const pays = createWorkflow({ id: 'pays', inputSchema, outputSchema })
      .then(createStep(tools.pay))
      .commit();
    const storage = new LibSQLStore({ id: 'state', url: `file:${state}` });
    return new Mastra({ agents: { payer: agent }, workflows: { pays }, storage, logger: false });
  }

  #payTool() {
    const { made, pays } = this.#parts;
    return this.packages.createTool({
      id: 'pay',
      description: 'Pays.',
      inputSchema: z.object({ to: z.string(), cents: z.number().default(500) }),
      outputSchema: z.any(),
      execute: async (paid: Paid, context: unknown): Promise<unknown> => {
        made.push({ to: paid.to, cents: paid.cents });
        return pays(paid, context);
      },
    });
  }
}

export const named: MastraOptions = { approver: () => 'manager:grace' };

/** Errors of the set-up end a run: no model can fix them, so no model gets them. */
import { describe, expect, test } from 'vitest';
import type { Gate } from '#calls';
import * as ai from '../../../../tests/support/ai-runs.ts';
import * as langchain from '../../../../tests/support/langchain-runs.ts';
import * as openai from '../../../../tests/support/openai-agents-runs.ts';

/** A run of a framework whose model asks for one call. */
interface Framework {
  readonly gate: Gate;
  readonly made: readonly unknown[];
  start(): Promise<unknown>;
}

/** `isUnnamed`: the program does not name the run of its calls. */
const FRAMEWORKS: Readonly<
  Record<string, (isUnnamed: boolean, name: string) => Promise<Framework>>
> = {
  ...aiSdk('generateText', ai.generated),
  ...aiSdk('streamText', ai.streamedWay),
  ...aiSdk('ToolLoopAgent', ai.agentWay),
  ...langChain('an agent of LangChain', langchain.agent),
  ...langChain('a graph of LangGraph', langchain.bareGraph),
  'an agent of OpenAI': async (isUnnamed, to) => {
    const it = await openai.deskOf(isUnnamed ? { run: () => undefined } : {});
    return { gate: it.gate, made: it.made, start: () => it.start([openai.pay('c1', to, 5)]) };
  },
};

function aiSdk(name: string, way: Parameters<typeof ai.runOf>[0]): typeof FRAMEWORKS {
  return {
    [name]: async (isUnnamed, to) => {
      const it = await ai.runOf(way, isUnnamed ? { run: () => undefined } : {});
      return { gate: it.gate, made: it.made, start: () => it.start([ai.pay('c1', to, 5)]) };
    },
  };
}

function langChain(name: string, make: langchain.Make): typeof FRAMEWORKS {
  return {
    [name]: async (isUnnamed, to) => {
      const it = await langchain.runOf(make, isUnnamed ? { thread: () => undefined } : {});
      return { gate: it.gate, made: it.made, start: () => it.start([langchain.pay('c1', to, 5)]) };
    },
  };
}

/** The code of an error, also of one that a framework has wrapped. */
function codesOf(error: unknown): readonly unknown[] {
  const { code, cause, error: inner } = (error ?? {}) as Readonly<Record<string, unknown>>;
  return [code, ...(cause ? codesOf(cause) : []), ...(inner ? codesOf(inner) : [])].filter(Boolean);
}

describe.each(Object.entries(FRAMEWORKS))('%s', (_, open) => {
  test('a store that is closed ends the run', async () => {
    const it = await open(false, 'bob');
    await it.gate.close();
    const error = await it.start().catch((thrown: unknown) => thrown);
    expect(codesOf(error)).toContain('store_closed');
    expect(it.made).toEqual([]);
  });

  test('a run without a name ends', async () => {
    const it = await open(true, 'bob');
    const error = await it.start().catch((thrown: unknown) => thrown);
    expect(codesOf(error)).toContain('no_identity');
    expect(it.made).toEqual([]);
  });

  test('a refusal is for the model, and the run goes on', async () => {
    const it = await open(false, 'mallory');
    await it.start();
    expect(it.made).toEqual([]);
  });
});

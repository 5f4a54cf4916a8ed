/** A gate and the MCP gateway show one document of a ruling, and decide by it, in every phase. */

import { connectGate } from '@assize/gate/internal/calls';
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { readRow } from 'assize/internal/ledger';
import { callAnswer, type RulingDocument, rulingView } from 'assize/internal/views';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { ADA, connected, served } from '../../../../tests/support/mcp/served-gateway.ts';

const RULES = `
id: notes
trust: [notes]
tools:
  notes/add: { class: irreversible }
rules:
  - { id: quick, allow: notes/add, where: [{ path: /text, is: quick }] }
  - { id: secret, deny: notes/add, where: [{ path: /text, is: secret }], because: Secrets are not noted. }
  - { id: one, ask: notes/add, where: [{ path: /text, in: [one, refused, late, last] }] }
  - { id: two, ask: notes/add, approvals: 2, where: [{ path: /text, is: two }] }
LIMIT
`;

/** The answer to an agent. `made`: the call was made. */
interface Told {
  readonly kind: string;
  readonly ruling?: RulingDocument;
}

async function placed({
  timeoutMs,
  limit = '',
}: {
  readonly timeoutMs?: number;
  readonly limit?: string;
} = {}) {
  const approvals = timeoutMs === undefined ? {} : { approvals: { timeoutMs } };
  const place = await served(RULES.replace('LIMIT', limit), approvals);
  const made: string[] = [];
  const add = async (text: string): Promise<string> => `added ${made.push(text)}`;
  const serve = (transport: never) =>
    serveStdio(
      () => {
        const server = new McpServer({ name: 'notes', version: '1' });
        server.registerTool(
          'add',
          { inputSchema: z.object({ text: z.string() }) },
          async ({ text }) => ({
            content: [{ type: 'text', text: await add(text) }],
          }),
        );
        return server;
      },
      { transport },
    );
  /** The ruling that the ledger recorded last about a call, by the renderer. */
  const recorded = async (): Promise<RulingDocument> => {
    const { service } = place.server;
    const rows = await service.store.entries('calls');
    const row = rows.findLast((one) =>
      /"(name|action)":"call"/.test(JSON.stringify(readRow(one).payload)),
    );
    return rulingView(await service.assize.rulingAt(row!));
  };
  return { place, made, add, serve, recorded };
}

type Place = Awaited<ReturnType<typeof placed>>;

/** Every surface on which an agent asks for a call, by its name: asks again with the same words. */
const SURFACES: Record<
  string,
  (place: Place, waitMs?: number) => Promise<(text: string) => Promise<Told>>
> = {
  gate: async ({ place, add }, waitMs = 0) => {
    const token = place.tokens[ADA]!;
    const gate = await connectGate({
      url: place.server.url,
      token,
      server: 'notes',
      inFlightMs: 50,
      waitMs,
    });
    onTestFinished(() => gate.close());
    return async (text) => {
      const call = { run: 'r1', id: text, tool: 'add', args: { text } };
      const end = await gate.run(call, () => add(text));
      if (end.end === 'done') return { kind: 'made' };
      const { reason, approval, ruling } = end as {
        reason: string;
        approval?: string;
        ruling: RulingDocument;
      };
      expect({ end: end.end, reason, approval }).toEqual({
        ...{ denied: { end: 'refused' }, pending: { end: 'pending' } }[
          callAnswer(ruling).kind as 'denied' | 'pending'
        ],
        ...wordsOf(ruling),
      });
      return { kind: callAnswer(ruling).kind, ruling };
    };
  },
  MCP: async ({ place, serve }, waitMs = 0) => {
    const { client, close } = await connected(place, serve as never, { limits: { waitMs } });
    onTestFinished(close);
    return async (text) => {
      const result: any = await client.callTool({ name: 'add', arguments: { text } });
      if (result.isError !== true) return { kind: 'made' };
      const ruling: RulingDocument = result._meta['assize/ruling'];
      const { approval, reason } = wordsOf(ruling);
      expect(result.structuredContent?.approval).toBe(approval);
      expect(result.structuredContent?.status).toBe(approval === undefined ? undefined : 'pending');
      if (ruling.ruling !== 'escalated') expect(result.content[0].text).toContain(reason);
      return { kind: callAnswer(ruling).kind, ruling };
    };
  },
};

function wordsOf(ruling: RulingDocument): {
  readonly reason: string;
  readonly approval: string | undefined;
} {
  const answer = callAnswer(ruling);
  if (answer.kind === 'committed') throw new Error('a call that was let through is made');
  return {
    reason: answer.reason,
    approval: answer.kind === 'pending' ? answer.approval : undefined,
  };
}

for (const [name, open] of Object.entries(SURFACES)) {
  test(`${name}: an allowed, a denied and an approved call have one ruling`, async () => {
    const at = await placed();
    const ask = await open(at);
    expect(await ask('quick')).toEqual({ kind: 'made' });
    const denied = await ask('secret');
    expect(denied).toEqual({ kind: 'denied', ruling: await at.recorded() });
    expect(denied.ruling).toMatchObject({ ruling: 'rejected', reason: 'invariant_rejected' });
    const held = await ask('one');
    expect(held).toEqual({ kind: 'pending', ruling: await at.recorded() });
    await at.place.approve((held.ruling as any).approval_id);
    expect(await at.recorded()).toMatchObject({ ruling: 'committed' });
    expect(await ask('one')).toEqual({ kind: 'made' });
    expect(at.made).toEqual(['quick', 'one']);
  });

  test(`${name}: the first of two approvals counts, also while a call waits`, async () => {
    const at = await placed();
    const ask = await open(at, 1_500);
    const waiting = ask('two');
    await expect.poll(async () => (await at.place.approvals()).length).toBe(1);
    const [{ id }] = await at.place.approvals();
    await at.place.approve(id);
    const told = await waiting;
    expect(told).toEqual({ kind: 'pending', ruling: await at.recorded() });
    const { approval_id } = told.ruling as any;
    expect(told.ruling).toMatchObject({
      request_id: id,
      approvals: 2,
      approved_by: ['manager:grace'],
    });
    expect(approval_id).not.toBe(id);
    await at.place.approveToo(approval_id);
    expect(await ask('two')).toEqual({ kind: 'made' });
  });

  test(`${name}: a refusal by a person and an expiry have one ruling`, async () => {
    const at = await placed({ timeoutMs: 2_500 });
    const ask = await open(at, 20_000);
    const waiting = ask('refused');
    await expect.poll(async () => (await at.place.approvals()).length).toBe(1);
    await at.place.reject((await at.place.approvals())[0].id);
    const refused = await waiting;
    expect(refused).toEqual({ kind: 'denied', ruling: await at.recorded() });
    expect(refused.ruling).toMatchObject({ ruling: 'rejected', reason: 'counselor_rejected' });
    const expired = await ask('late');
    expect(expired).toEqual({ kind: 'denied', ruling: await at.recorded() });
    expect(expired.ruling).toMatchObject({ ruling: 'rejected', reason: 'expired' });
    expect(at.made).toEqual([]);
  });

  test(`${name}: a frozen call names the approval that blocks it`, async () => {
    const limit = 'limits:\n  - { id: day, tools: notes/add, per: day, max: 1 }';
    const at = await placed({ limit });
    const ask = await open(at);
    const held = await ask('one');
    const { ruling } = await ask('last');
    const { body } = await at.place.server.ask('POST', '/v1/trajectories/calls/proposals', {
      token: at.place.tokens[ADA]!,
      headers: { 'idempotency-key': 'f' },
      body: {
        action: 'call',
        role: { name: 'agent', params: { agent: 'ada' } },
        args: { id: 'f', server: 'notes', tool: 'add', args: { text: 'last' }, once: true },
      },
    } as never);
    expect(ruling).toEqual(body);
    expect(ruling).toMatchObject({ ruling: 'frozen', by: (held.ruling as any).approval_id });
  });
}

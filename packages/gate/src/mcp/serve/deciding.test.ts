import { describe, expect, test } from 'vitest';
import {
  desksOf,
  type Era,
  ledgerClient,
  pay,
  personWho,
  textOf,
  waitingPayment,
  YES,
} from '../../../../../tests/support/mcp/ledger-client.ts';
import { GRACE, served } from '../../../../../tests/support/mcp/served-gateway.ts';
import { PRINCIPALS, start } from '../../../../../tests/support/server/serving.ts';

const DECIDING = ['approvals_approve', 'approvals_reject'];

describe.each<Era>(['modern', 'legacy'])('with a %s client', (era) => {
  test('a person confirms the exact call, and then it is approved', async () => {
    const server = await start();
    const item = await waitingPayment(server);
    const { asked, person } = personWho(YES);
    const { call, tools, close } = await ledgerClient(server, {
      as: 'boss:ada',
      decides: true,
      era,
      person,
    });
    expect(await tools()).toEqual(expect.arrayContaining(DECIDING));
    const done = await call('approvals_approve', {
      approval: item.id,
      digest: item.digest,
      reason: 'agreed',
    });
    expect(done.structuredContent).toMatchObject({ ruling: 'committed' });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain('"amount": 500');
    expect(asked[0]).toContain('reason to record: "agreed"');
    expect(asked[0]).toContain(`console: ${server.url}/inbox/${item.id}`);
    const entry = await call('entries_get', { entry: done.structuredContent.entry_id });
    expect(JSON.stringify(entry)).toContain('elicitation');
    await close();
    expect((await desksOf(server)).a).toEqual({ sum: 500, by: 'boss:ada' });
  });

  test('a person who declines, or does not mark, decides nothing', async () => {
    const server = await start();
    const item = await waitingPayment(server);
    const answers: unknown[] = [
      { action: 'decline' },
      { action: 'cancel' },
      { action: 'accept', content: { approve: false } },
    ];
    const person = () => answers.shift();
    const { call, close } = await ledgerClient(server, {
      as: 'boss:ada',
      decides: true,
      era,
      person,
    });
    const given = { approval: item.id, digest: item.digest, reason: 'no' };
    for (const name of ['approvals_approve', 'approvals_reject', 'approvals_approve'])
      expect(textOf(await call(name, given))).toContain('did not confirm');
    expect(answers).toEqual([]);
    await close();
    expect((await pay(server, 10, 'next')).ruling).toBe('frozen');
  });
});

test('without --decide, or with a client that cannot ask, nothing decides', async () => {
  const server = await start();
  const item = await waitingPayment(server);
  const decision = { approval: item.id, digest: item.digest };
  const reading = await ledgerClient(server, { as: 'boss:ada', person: () => YES });
  expect(await reading.tools()).not.toContain('approvals_approve');
  expect(textOf(await reading.call('approvals_approve', decision))).toContain('There is no tool');
  await reading.close();
  const mute = await ledgerClient(server, { as: 'boss:ada', decides: true });
  expect(await mute.tools()).not.toContain('approvals_approve');
  expect(textOf(await mute.call('approvals_approve', decision))).toContain(
    `${server.url}/inbox/${item.id}`,
  );
  await mute.close();
  expect(await desksOf(server)).toEqual({});
});

test('a decision without the digest, or with another one, is refused', async () => {
  const server = await start();
  const item = await waitingPayment(server);
  const { asked, person } = personWho(YES);
  const { call, close } = await ledgerClient(server, { as: 'boss:ada', decides: true, person });
  const other = 'f'.repeat(64);
  for (const [given, says] of [
    [{ approval: item.id }, 'whole digest'],
    [{ approval: item.id, digest: item.digest.slice(0, 12) }, 'whole digest'],
    [{ approval: item.id, digest: other }, 'not the digest'],
    [{ approval: other, digest: item.digest }, 'no pending proposal'],
    [{ approval: '..', digest: item.digest }, 'whole `id`'],
    [{ approval: item.id, digest: item.digest, args: { amount: 1 } }, 'no argument "args"'],
    [{ approval: item.id, digest: item.digest, override: true }, 'no argument "override"'],
    [{ approval: item.id, digest: item.digest, reason: 5 }, '`reason` must be'],
  ] as const)
    expect(textOf(await call('approvals_approve', given)), says).toContain(says);
  expect(
    textOf(await call('approvals_reject', { approval: item.id, digest: item.digest })),
  ).toContain('needs a `reason`');
  await close();
  expect(asked).toEqual([]);
  expect(await desksOf(server)).toEqual({});
});

test('an item that is decided while the person reads is not decided again', async () => {
  const server = await start();
  const item = await waitingPayment(server);
  const person = async () => {
    const body = { reason: 'first', digest: item.digest };
    await server.ask('POST', `/v1/approvals/${item.id}/reject`, {
      token: server.tokens['boss:bob'],
      body,
    });
    return YES;
  };
  const { call, close } = await ledgerClient(server, { as: 'boss:ada', decides: true, person });
  const decision = { approval: item.id, digest: item.digest };
  const late = await call('approvals_approve', decision);
  expect(late.isError).toBe(true);
  expect(textOf(late)).toMatch(/^Nothing is decided: .*\(not_pending\)/);
  expect(textOf(await call('approvals_approve', decision))).toContain('does not wait any more');
  await close();
  expect(await desksOf(server)).toEqual({});
});

test('a person who may not decide about the item is not asked', async () => {
  const server = await start({
    principals: {
      ...PRINCIPALS,
      'clerk:cy': { kinds: ['counselor'] },
    } as never,
  });
  const item = await waitingPayment(server);
  const tokens = { ...server.tokens, 'boss:ada': await server.tokenFor('clerk:cy') };
  const { call, close } = await ledgerClient(
    { url: server.url, tokens },
    { as: 'boss:ada', decides: true, person: () => YES },
  );
  const answer = textOf(
    await call('approvals_approve', { approval: item.id, digest: item.digest }),
  );
  await close();
  expect(answer).toContain('Its deciders: boss:ada, boss:bob.');
});

test('a call that is too long for the client is decided in the console', async () => {
  const server = await start();
  await pay(server, 500, 'long', `desk${'\n'.repeat(300)}`);
  const { asked, person } = personWho(YES);
  const { call, close } = await ledgerClient(server, {
    ...{ as: 'boss:ada', decides: true, person },
    wrap: (ask) => async (path, init) => {
      const answer = await ask(path, init);
      if (!/^\/v1\/approvals\/[0-9a-f]+$/.test(path)) return answer;
      const document: any = await answer.json();
      document.approval.action.args = { text: 'x'.repeat(9_000) };
      return Response.json(document);
    },
  });
  const [{ id, digest }] = (await call('approvals_list')).structuredContent.approvals;
  expect(textOf(await call('approvals_approve', { approval: id, digest }))).toContain(
    `console: ${server.url}/inbox/${id}`,
  );
  await close();
  expect(asked).toEqual([]);
});

test('a confirmation counts for its decision alone, and a forged one for none', async () => {
  const server = await start();
  const { id: approval, digest } = await waitingPayment(server);
  const { call, close } = await ledgerClient(server, {
    ...{ as: 'boss:ada', decides: true, keepsQuestions: true, person: () => YES },
  });
  const given = { approval, digest, reason: 'no' };
  const { requestState } = await call('approvals_reject', given);
  const inputResponses = { decision: YES };
  const answer = { requestState, inputResponses };
  for (const [name, args] of [
    ['approvals_approve', given],
    ['approvals_reject', { ...given, reason: 'yes' }],
    ['approvals_reject', { ...given, digest: 'f'.repeat(64) }],
  ] as const)
    expect(textOf(await call(name, args, answer))).toContain('asked about another decision');
  const forged = { requestState: `${requestState}x`, inputResponses };
  await expect(call('approvals_reject', given, forged)).rejects.toThrow();
  expect(await call('approvals_reject', given, { inputResponses })).toHaveProperty('requestState');
  expect((await call('approvals_reject', given, answer)).structuredContent).toMatchObject({
    ruling: 'rejected',
  });
  expect(textOf(await call('approvals_reject', given, answer))).toContain('(not_pending)');
  await close();
});

test('the held call of a gateway is shown with its arguments, and approved', async () => {
  const place = await served('{ id: notes, trust: [notes], rules: [{ id: all, ask: notes/add }] }');
  const args = { text: 'the minutes', to: ['ann', 'bob'] };
  const ruled: any = await place.desk().propose({ id: 'call-1', tool: 'add', args });
  const { asked, person } = personWho(YES);
  const { call, close } = await ledgerClient(
    {
      url: place.server.url,
      tokens: { ...place.server.tokens, 'boss:ada': place.tokens[GRACE] as string },
    },
    { as: 'boss:ada', decides: true, person },
  );
  const { digest } = (await call('approvals_get', { approval: ruled.approval })).structuredContent
    .approval;
  const done = await call('approvals_approve', { approval: ruled.approval, digest });
  await close();
  expect(asked[0]).toContain(JSON.stringify(args, null, 2).split('\n')[1]?.trim());
  expect(done.structuredContent).toMatchObject({ ruling: 'committed' });
  expect((await place.state()).calls).toMatchObject({ 'call-1': {} });
});

test('a decision without an answer is in doubt, and not called undone', async () => {
  const server = await start();
  const { id: approval, digest } = await waitingPayment(server);
  const { call, close } = await ledgerClient(server, {
    ...{ as: 'boss:ada', decides: true, person: () => YES },
    wrap: (ask) => async (path, init) => {
      const answer = await ask(path, init);
      if (init.method === 'POST') throw new TypeError('fetch failed');
      return answer;
    },
  });
  const lost = await call('approvals_approve', { approval, digest });
  expect(lost.isError).toBe(true);
  expect(textOf(lost)).toContain('It is not known whether the decision was recorded');
  expect((await call('approvals_get', { approval })).structuredContent.status).toBe('resolved');
  await close();
  expect((await desksOf(server)).a).toEqual({ sum: 500, by: 'boss:ada' });
});

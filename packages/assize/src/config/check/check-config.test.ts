import { budget } from '@assize/cli/internal/domains/budget';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatVerifierKey, signerKey } from '#merkle';
import { checkConfig, checkPrincipal } from './check-config.ts';

const agent = { kinds: ['agent'], grants: [{ actions: ['**'] }] };
const oidc = { issuer: 'https://id.example.com', clientId: 'assize', principal: () => undefined };
const jwt = {
  issuer: 'https://ci.example.com',
  audience: 'assize',
  jwksUrl: 'https://ci.example.com/keys',
  algorithms: ['RS256'],
  principal: () => undefined,
};
const WITNESS = formatVerifierKey(signerKey('witness.example', 'cosignature', '01'.repeat(32)));
const LOG = formatVerifierKey(signerKey('log.example', 'note', '02'.repeat(32)));
const witness = { url: 'https://w.example', key: WITNESS };
const secret = 'a-secret-of-24-characters';
const simulated = {
  name: 'v',
  agents: [{ name: 'agent:scout', role: { name: 'spender' }, decide: () => 'done' }],
};
const simulation = { domain: 'budget', variants: [simulated] };

/** A config with every member. */
const FULL = {
  store: 'sqlite:./a.db',
  domains: [budget],
  tools: [],
  policy: 'assize.yaml',
  worlds: { main: { domain: 'budget', initial: { spent: 0 }, note: 'n' } },
  principals: {
    'agent:scout': {
      kinds: ['agent'],
      grants: [
        {
          trajectories: ['main', '*'],
          actions: ['spend', 'bank:*'],
          scopes: ['role:**'],
          budget: { calls: 3 },
          requireApproval: ['pay'],
          maxDepth: 5,
        },
      ],
    },
    'manager:grace': { kinds: ['counselor', 'admin'], email: 'grace@example.com' },
  },
  approvals: { timeoutMs: 'never', maxPending: 10 },
  simulations: {
    careful: {
      description: 'Pays less.',
      domain: 'budget',
      variants: [simulated],
      simulators: { 'bank.pay': { answer: 1 }, 'bank.refund': () => 1 },
      limits: { samples: 100, turns: 1, seconds: 50 },
    },
    'a.b-c_1': { domain: 'budget', variants: () => [] },
  },
  mcp: {
    world: 'main',
    servers: {
      files: {
        command: 'node',
        args: ['a.mjs', ''],
        env: { A: '' },
        people: { 'agent:scout': 'manager:grace' },
        clientsSpeakForPeople: true,
      },
      web: { url: 'https://mcp.example.com', headers: { authorization: 'Bearer x' } },
    },
    waitSeconds: 0,
    timeoutSeconds: 1,
    resultBytes: 1_024,
  },
  effects: {
    resolvers: { fs: () => [] },
    blockTimeoutMs: 1_000,
    maxAttempts: 2,
    recoveryKey: 'x'.repeat(32),
  },
  memory: { embedder: { id: 'e', dimensions: 2, embed: async () => [] } },
  notices: {
    webhooks: [{ url: 'http://notices:8080/in', secret, channels: ['manager'] }],
    mail: { smtp: 'smtps://u:p@mail.example.com', from: 'Assize <assize@example.com>' },
  },
  server: {
    host: '::1',
    port: 0,
    publicUrl: 'https://assize.example.com',
    behindProxy: true,
    limits: {
      requestsPerSecond: 1,
      concurrency: 1,
      streams: 0,
      bodyBytes: 1_024,
      simulations: 100,
    },
    writSeconds: 60,
    watchdogMs: 1_000,
    witnesses: [{ url: 'https://witness.example', key: WITNESS }],
    oidc: { ...oidc, issuer: 'http://127.0.0.1:4000', clientSecret: 's', scope: 'openid email' },
    jwt: [jwt],
  },
};

test('a config with every member is accepted, and so is an empty one', () => {
  checkConfig(FULL);
  checkConfig({});
});

/** Each config has one fault, at the path. */
const BAD: readonly (readonly [path: string, config: object])[] = [
  ['mcp.servers.a', { mcp: { servers: { a: {} } } }],
  ['mcp.servers.a', { mcp: { servers: { a: { command: 'a', url: 'http://a' } } } }],
  ['mcp.servers["a/b"]', { mcp: { servers: { 'a/b': { command: 'a' } } } }],
  [
    'mcp.servers.a.people',
    { mcp: { servers: { a: { command: 'a', people: { 'agent:a': 'manager:b' } } } } },
  ],
  ['mcp.servers.a.url', { mcp: { servers: { a: { url: 'file:///etc' } } } }],
  ['mcp.servers.a.args[0]', { mcp: { servers: { a: { command: 'a', args: [1] } } } }],
  ['store', { store: 7 }],
  ['store', { store: 'mysql://x' }],
  ['store', { store: 'sqlite:' }],
  ['stroe', { stroe: 'sqlite:./a.db' }],
  ['domains', { domains: budget }],
  ['domains[0]', { domains: [{ name: 'x' }] }],
  ['domains[0]', { domains: [undefined] }],
  ['domains[1]', { domains: [budget, { ...budget, hash: 'f'.repeat(64) }] }],
  ['tools', { tools: {} }],
  ['tools[0]', { tools: [() => undefined] }],
  ['policy', { policy: '' }],
  ['policy', { policy: { evaluate: () => undefined } }],
  ['policy', { policy: { evaluate: () => undefined, digest: 'x' } }],
  ['worlds', { worlds: [] }],
  ['worlds["a b"]', { worlds: { 'a b': { domain: 'budget' } } }],
  ['worlds.a.domain', { worlds: { a: {} } }],
  ['worlds.a.intial', { worlds: { a: { domain: 'budget', intial: {} } } }],
  ['worlds.a.note', { worlds: { a: { domain: 'budget', note: 1 } } }],
  ['simulations', { simulations: [simulation] }],
  ['simulations["a b"]', { simulations: { 'a b': simulation } }],
  ['simulations[""]', { simulations: { '': simulation } }],
  ['simulations.a', { simulations: { a: [simulated] } }],
  ['simulations.a.variant', { simulations: { a: { ...simulation, variant: [] } } }],
  [
    'simulations.a.description',
    { simulations: { a: { ...simulation, description: 'x'.repeat(501) } } },
  ],
  ['simulations.a.domain', { simulations: { a: { variants: [simulated] } } }],
  ['simulations.a.variants', { simulations: { a: { domain: 'budget' } } }],
  ['simulations.a.variants', { simulations: { a: { ...simulation, variants: [] } } }],
  [
    'simulations.a.variants[0]',
    { simulations: { a: { ...simulation, variants: [{ name: 'v' }] } } },
  ],
  [
    'simulations.a.variants[1]',
    { simulations: { a: { ...simulation, variants: [simulated, null] } } },
  ],
  [
    'simulations.a.simulators["bank.pay"]',
    { simulations: { a: { ...simulation, simulators: { 'bank.pay': 1 } } } },
  ],
  [
    'simulations.a.limits.samples',
    { simulations: { a: { ...simulation, limits: { samples: 101 } } } },
  ],
  ['simulations.a.limits.turns', { simulations: { a: { ...simulation, limits: { turns: 0 } } } }],
  [
    'simulations.a.limits.seconds',
    { simulations: { a: { ...simulation, limits: { seconds: 51 } } } },
  ],
  ['principals', { principals: [agent] }],
  ['principals[""]', { principals: { '': agent } }],
  ['principals["a\u200bb"]', { principals: { 'a\u200bb': agent } }],
  ['principals["assize:server"]', { principals: { 'assize:server': agent } }],
  ['principals["Аssize:x"]', { principals: { 'Аssize:x': agent } }],
  ['principals["agent:Ada"]', { principals: { 'agent:ada': agent, 'agent:Ada': agent } }],
  ['principals["agent:a"]', { principals: { 'agent:a': null } }],
  ['principals["agent:a"].kinds', { principals: { 'agent:a': {} } }],
  ['principals["agent:a"].kinds', { principals: { 'agent:a': { kinds: [] } } }],
  ['principals["agent:a"].kinds[0]', { principals: { 'agent:a': { kinds: ['root'] } } }],
  [
    'principals["agent:a"].grants',
    { principals: { 'agent:a': { kinds: ['auditor'], grants: agent.grants } } },
  ],
  ['principals["agent:a"].email', { principals: { 'agent:a': { ...agent, email: 'a\nb@c' } } }],
  ...(
    [
      ['actions', { actions: undefined }],
      ['actions', { actions: [] }],
      ['actions[0]', { actions: ['a::b'] }],
      ['actions[0]', { actions: [7] }],
      ['scopes[0]', { scopes: ['fs:/a/../b'] }],
      ['scopes', { scopes: '**' }],
      ['trajectories[0]', { trajectories: ['a b'] }],
      ['trajectories', { trajectories: [] }],
      ['budget.usd', { budget: { usd: -1 } }],
      ['budget.usd', { budget: { usd: 0.5 } }],
      ['budget[""]', { budget: { '': 1 } }],
      ['requireApproval[0]', { requireApproval: ['**x'] }],
      ['maxDepth', { maxDepth: 6 }],
      ['max_depth', { max_depth: 1 }],
    ] as const
  ).map(
    ([path, part]) =>
      [
        `principals["agent:a"].grants[0].${path}`,
        { principals: { 'agent:a': { kinds: ['agent'], grants: [{ actions: ['a'], ...part }] } } },
      ] as const,
  ),
  ['approvals.timeoutMs', { approvals: { timeoutMs: 0 } }],
  ['approvals.timeoutMs', { approvals: { timeoutMs: 'ever' } }],
  ['approvals.maxPending', { approvals: { maxPending: 0.5 } }],
  ['approvals.onPending', { approvals: { onPending: () => undefined } }],
  ['effects.maxAttempts', { effects: { maxAttempts: 0 } }],
  ['effects.recoveryKey', { effects: { recoveryKey: 'short' } }],
  ['effects.resolvers.fs', { effects: { resolvers: { fs: 'x' } } }],
  ['effects.resolvers.FS', { effects: { resolvers: { FS: () => [] } } }],
  ['effects.frontier', { effects: { frontier: 'any' } }],
  ['effects.leaseMs', { effects: { leaseMs: 99 } }],
  ['effects.blockTimeoutMs', { effects: { blockTimeoutMs: 99 } }],
  ['effects.callTimeoutMs', { effects: { callTimeoutMs: 0 } }],
  ['effects.onRecoveryFailed', { effects: { onRecoveryFailed: true } }],
  ['memory.judge', { memory: { judge: {} } }],
  ['memory.embedder', { memory: { embedder: { id: 'e', dimensions: 0, embed: () => undefined } } }],
  ['principals["agent:a"].slack', { principals: { 'agent:a': { ...agent, slack: 'U0456' } } }],
  [
    'principals["boss:b"].slack',
    {
      principals: {
        'boss:a': { kinds: ['counselor'], slack: 'T0/U0' },
        'boss:b': { kinds: ['counselor'], slack: 'T0/U0' },
      },
    },
  ],
  ['notices.slack.channel', { notices: { slack: { token: 't', channel: '#office' } } }],
  [
    'notices.slack.signingSecret',
    { notices: { slack: { token: 't', channel: 'C0', signingSecret: 'short' } } },
  ],
  [
    'notices.slack.amounts.euros',
    { notices: { slack: { token: 't', channel: 'C0', amounts: { euros: 1 } } } },
  ],
  [
    'notices.slack.apiUrl',
    { notices: { slack: { token: 't', channel: 'C0', apiUrl: 'http://slack.example/' } } },
  ],
  ['notices.teams.url', { notices: { teams: { url: 'ftp://x' } } }],
  ['notices.reminderSeconds', { notices: { reminderSeconds: 0 } }],
  ['notices.webhooks[0].url', { notices: { webhooks: [{ url: 'ftp://x', secret }] } }],
  [
    'notices.webhooks[0].secret',
    { notices: { webhooks: [{ url: 'https://x', secret: 'short' }] } },
  ],
  [
    'notices.webhooks[0].channels',
    { notices: { webhooks: [{ url: 'https://x', secret, channels: [] }] } },
  ],
  ['notices.mail.smtp', { notices: { mail: { smtp: 'mail.example.com', from: 'a@b' } } }],
  ['notices.mail.from', { notices: { mail: { smtp: 'smtp://x', from: 'a@b\r\nbcc: c@d' } } }],
  ['server.port', { server: { port: 65_536 } }],
  ['server.port', { server: { port: '4517' } }],
  ['server.prt', { server: { prt: 1 } }],
  ['server.host', { server: { host: 'http://x' } }],
  ['server.publicUrl', { server: { publicUrl: 'https://x/path' } }],
  ['server.publicUrl', { server: { publicUrl: 'https://u:p@x' } }],
  ['server.behindProxy', { server: { behindProxy: 'yes' } }],
  ['server.behindProxy', { server: { behindProxy: true, tls: { certFile: 'a', keyFile: 'b' } } }],
  ['server.tls.keyFile', { server: { tls: { certFile: 'a' } } }],
  ['server.limits.streams', { server: { limits: { streams: -1 } } }],
  ['server.limits.simulations', { server: { limits: { simulations: 0 } } }],
  ['server.limits.requestsPerSecond', { server: { limits: { requestsPerSecond: 0 } } }],
  ['server.limits.concurrency', { server: { limits: { concurrency: Number.NaN } } }],
  ['server.limits.bodyBytes', { server: { limits: { bodyBytes: 2 ** 40 } } }],
  [
    'server.witnesses[0].key',
    { server: { witnesses: [{ url: 'https://w.example', key: 'w+1+2' }] } },
  ],
  ['server.witnesses[0].key', { server: { witnesses: [{ url: 'https://w.example', key: LOG }] } }],
  [
    'server.witnesses[1].key',
    { server: { witnesses: [witness, { ...witness, url: 'https://v.example' }] } },
  ],
  ['server.witnesses[0].url', { server: { witnesses: [{ ...witness, url: 'w.example' }] } }],
  ['server.writSeconds', { server: { writSeconds: 86_401 } }],
  ['server.watchdogMs', { server: { watchdogMs: 1 } }],
  ['server.oidc.issuer', { server: { oidc: { ...oidc, issuer: 'http://id.example.com' } } }],
  ['server.oidc.clientId', { server: { oidc: { ...oidc, clientId: '' } } }],
  ['server.oidc.clientSecret', { server: { oidc: { ...oidc, clientSecret: 7 } } }],
  ['server.oidc.clientSecret', { server: { oidc: { ...oidc, clientSecret: ['a', 'b', 'c'] } } }],
  ['server.oidc.scope', { server: { oidc: { ...oidc, scope: 'email' } } }],
  ['server.oidc.principal', { server: { oidc: { ...oidc, principal: {} } } }],
  ['server.jwt', { server: { jwt } }],
  ['server.jwt[0].algorithms[0]', { server: { jwt: [{ ...jwt, algorithms: ['HS256'] }] } }],
  ['server.jwt[0].algorithms[0]', { server: { jwt: [{ ...jwt, algorithms: ['none'] }] } }],
  ['server.jwt[0].algorithms', { server: { jwt: [{ ...jwt, algorithms: [] }] } }],
  ['server.jwt[0].jwksUrl', { server: { jwt: [{ ...jwt, jwksUrl: 'http://10.0.0.1/keys' }] } }],
  ['server.jwt[0].audience', { server: { jwt: [{ ...jwt, audience: undefined }] } }],
  ['server.jwt[1]', { server: { jwt: [jwt, jwt] } }],
];

test.each(BAD)('names %s', (path, config) => {
  expect(() => checkConfig(config)).toThrow(
    expect.objectContaining({ code: 'bad_config', evidence: { path } }),
  );
});

test('the nearest name of a misspelt member is in the message', () => {
  expect(() => checkConfig({ principal: {} }, 'The file x')).toThrow(
    'The file x: principal must be left out: no such member exists, and the nearest is principals.',
  );
  expect(() => checkConfig({ zzzzzzzzz: {} })).toThrow('known: store, archive, domains');
});

test('a config that is not a plain object is refused at the root', () => {
  for (const config of [null, undefined, 7, 'x', [], new (class Config {})(), () => ({})])
    expect(() => checkConfig(config)).toThrow('The config must be an object.');
});

test('an inherited member does not count as a known one', () => {
  expect(() => checkConfig(JSON.parse('{"__proto__": {}}'))).toThrow('__proto__');
  expect(() => checkConfig({ constructor: 1 })).toThrow('constructor');
});

test('no message contains a value, because it may be a secret', () => {
  const password = 'hunter2hunter2';
  for (const config of [
    { store: `mysql://u:${password}@h/d` },
    { notices: { webhooks: [{ url: 'https://x', secret: password }] } },
    { notices: { mail: { smtp: `imap://u:${password}@h`, from: 'a@b' } } },
    { effects: { recoveryKey: password } },
  ])
    expect(() => checkConfig(config)).toThrow(expect.not.stringContaining(password));
});

test('any value at any member is accepted, or refused with a path under it', () => {
  const places = [
    'store',
    'domains',
    'tools',
    'policy',
    'worlds',
    'principals',
    'approvals',
    'effects',
    'memory',
  ];
  fc.assert(
    fc.property(
      fc.constantFrom(...places, 'notices', 'server', 'simulations'),
      fc.anything(),
      (name, value) => {
        try {
          checkConfig({ [name]: value });
        } catch (error) {
          const { code, evidence } = error as { code?: string; evidence?: { path: string } };
          expect(code).toBe('bad_config');
          expect(evidence?.path.startsWith(name)).toBe(true);
        }
      },
    ),
  );
});

test('a mapped principal is checked like one of the config', () => {
  checkPrincipal('manager:grace', { kinds: ['counselor'] }, 'server.oidc');
  expect(() => checkPrincipal('a\u0000b', { kinds: ['counselor'] }, 'server.oidc')).toThrow(
    'server.oidc: name',
  );
  expect(() => checkPrincipal('a', { kinds: ['owner'] }, 'server.oidc')).toThrow(
    'server.oidc: kinds[0]',
  );
});

import { budget } from '@assize/cli/internal/domains/budget';
import { gateway } from '@assize/gate/internal/gateway';
import { expect, test } from 'vitest';
import type { AssizeConfig, Grant } from '../config.ts';
import { ConfigError } from '../errors.ts';
import { resolveConfig } from '../resolved-config.ts';
import { checkNames } from './check-names.ts';

const tools = [{ name: 'bank.pay' }] as never;
const worlds = { trip: { domain: 'budget' }, calls: { domain: 'gateway' } };
const DOMAINS = [budget, gateway()];

function check(config: AssizeConfig): void {
  checkNames(resolveConfig({ worlds, tools, ...config }, { folder: '/', env: {} }), DOMAINS);
}

function granted(...grants: Grant[]): AssizeConfig {
  return { principals: { 'agent:x': { kinds: ['agent'], grants } } };
}

function faultOf(config: AssizeConfig): ConfigError {
  try {
    check(config);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('the config was not refused');
}

test('a grant may have wildcards, tools, built-ins and later trajectories', () => {
  check(granted({ actions: ['**'], scopes: ['**'], requireApproval: ['spend'] }));
  check(
    granted({
      trajectories: ['later'],
      actions: ['spend', 'call'],
      scopes: ['role:spender:ada', 'tool:notes:**'],
    }),
  );
  check(
    granted({
      trajectories: ['trip'],
      actions: ['bank.pay', 'assize.delegate'],
      scopes: ['role:*:*', 'role:spender:**'],
    }),
  );
  check(granted({ trajectories: ['trip'], actions: ['call'], maxDepth: 1 }));
  check({ mcp: { world: 'later', servers: {} } });
});

test('all unknown names of a config are in one error, each with its path', () => {
  const config = {
    worlds: { ...worlds, 'b-1': { domain: 'budgt' } },
    mcp: { world: 'trip', servers: {} },
    simulations: { try: { domain: 'nothing-like-it', variants: () => [] } },
    ...granted(
      {
        trajectories: ['trip', 'assize:agents'],
        actions: ['spend', 'spnd'],
        requireApproval: ['spend:*'],
      },
      {
        trajectories: ['trip'],
        actions: ['call'],
        scopes: ['role:spendr:x', 'role:spender', 'role:spender:a:b'],
      },
    ),
  } satisfies AssizeConfig;
  const { message, evidence } = faultOf(config);
  expect(evidence['paths']).toEqual([
    'worlds["b-1"].domain',
    'simulations.try.domain',
    'principals["agent:x"].grants[0].trajectories[1]',
    'principals["agent:x"].grants[0].actions[1]',
    'principals["agent:x"].grants[0].requireApproval[0]',
    'principals["agent:x"].grants[1].actions[0]',
    'principals["agent:x"].grants[1].scopes[0]',
    'principals["agent:x"].grants[1].scopes[1]',
    'principals["agent:x"].grants[1].scopes[2]',
    'mcp.world',
  ]);
  expect(message.split('\n').slice(0, 2)).toEqual([
    'The config:',
    '  worlds["b-1"].domain must be a known domain, and budgt is not: the nearest is budget.',
  ]);
  expect(message).toContain(
    'grants[0].actions[1] must be a known action or tool, and spnd is not: the nearest is spend.',
  );
  expect(message).toContain(
    'grants[1].scopes[1] must be of the form role:spender:*, one part for each parameter',
  );
  expect(message).toContain(
    'try.domain must be a known domain, and nothing-like-it is not: name one of budget, gateway.',
  );
});

test('one unknown name is a sentence', () => {
  expect(() => check(granted({ trajectories: ['trip'], actions: ['cal'] }))).toThrow(
    /^The config: principals\["agent:x"\]\.grants\[0\]\.actions\[0\] must be a known action or tool, and cal is not: .+\.$/,
  );
});

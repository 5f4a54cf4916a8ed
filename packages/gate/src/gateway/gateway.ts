import { segment } from 'assize/internal/authority';
import { isAssizeError, type Json } from 'assize/internal/base';
import { canonicalize } from 'assize/internal/canon';
import {
  type CallableTool,
  type CounselorPredicate,
  call,
  type Domain,
  defineDomain,
  type Presentation,
} from 'assize/internal/kernel';
import { z } from 'zod';
import { applyBegin, beginArgs } from './actions/begin.ts';
import { applyCall, approveCall, callArgs, type RulesInForce } from './actions/call.ts';
import { applyConfigure, configureArgs, configured, rulesDigest } from './actions/configure.ts';
import { gapArgs } from './actions/gap.ts';
import { applyPin, pinArgs } from './actions/pin.ts';
import { applyReport, reportArgs } from './actions/report.ts';
import { applySession, sessionArgs } from './actions/session.ts';
import { applyEndStanding, applyStand, endStandingArgs, standArgs } from './actions/stand.ts';
import { applyTidy } from './actions/tidy.ts';
import { configuration, type GatewayTool } from './configuration.ts';
import { invariants } from './invariants.ts';
import { CompiledRules, compiledRules } from './judge/compiled-rules.ts';
import { registeredName } from './names.ts';
import { enforcing, NO_RULES, type Rules } from './rules/rules.ts';
import { type GatewayState, gatewayState } from './schema.ts';
import { widerTerms } from './wider-terms.ts';

/** Options of the domain. None of them but `counselors` is part of its hash. */
export interface GatewayOptions {
  /** The rules with which a new trajectory begins. Default: every call asks. */
  readonly rules?: Rules;
  /** The registered tools, named `server.tool`. Assize makes the calls of the changing ones. */
  readonly tools?: readonly GatewayTool[];
  /** How people read the calls of tools, by `server/tool`: `presented` of a rules file. */
  readonly presented?: Readonly<Record<string, Presentation>>;
  /**
   * Default: `approver`, a principal whose name starts with `human:`, `manager:` or `operator:`.
   */
  readonly counselors?: Readonly<Record<string, CounselorPredicate>>;
}

/** The kind of counselor of the shipped domain. */
export function isApprover(principal: string): boolean {
  return typeof principal === 'string' && /^(?:human|manager|operator):./.test(principal);
}

/**
 * The domain for tool calls. Rules are in the state, where `configure` puts them, so changed rules
 * need no upgrade of the domain.
 */
export function gateway(options: GatewayOptions = {}): Domain<GatewayState> {
  return domainOf(options, undefined);
}

/**
 * The domain that judges by other rules than the recorded ones, to try them on recorded proposals
 * with `backtest`. None of them is only observed. It is for nothing else: it keeps no figures of
 * its own.
 */
export function gatewayUnder(
  rules: Rules,
  options: Omit<GatewayOptions, 'rules'> = {},
): Domain<GatewayState> {
  return domainOf(options, rules);
}

function domainOf(
  {
    rules = NO_RULES,
    tools = [],
    presented,
    counselors = { approver: isApprover },
  }: GatewayOptions,
  tried: Rules | undefined,
): Domain<GatewayState> {
  const callable = new Map<string, CallableTool>(tools.map((tool) => [tool.name, tool]));
  const triedRules = tried === undefined ? undefined : new CompiledRules(enforcing(tried));
  const inForce = ({ rules: { text, trial } }: GatewayState, at: string): RulesInForce => {
    if (triedRules !== undefined) return { compiled: triedRules, isTried: true };
    const judging = trial !== undefined && at < trial.until ? compiledRules(trial.text) : undefined;
    return { compiled: compiledRules(text), isTried: false, trial: judging };
  };
  return defineDomain({
    name: 'gateway',
    version: '2',
    state: gatewayState,
    initial: {
      ...configured(configuration(rules, tools), {}),
      pins: {},
      calls: {},
      open: {},
      read: {},
      standing: {},
      spent: {},
      sessions: {},
      turns: {},
    },
    processes: {
      calling: {
        reads: ['/rules', '/pins', '/sessions', '/standing'],
        writes: ['/calls/*', '/open/*', '/used/*', '/spent/*', '/read/*', '/turns/*'],
      },
      beginning: {
        reads: ['/rules', '/pins', '/sessions', '/standing'],
        writes: ['/calls/*', '/turns/*'],
      },
      reporting: { writes: ['/calls/*', '/open/*', '/read/*'] },
      attending: { writes: ['/sessions/*', '/turns/*'] },
      noting: {},
      pinning: { reads: ['/rules'], writes: ['/pins/*'] },
      standing: { reads: ['/rules', '/spent'], writes: ['/standing/*'] },
      configuring: { reads: ['/calls'], writes: ['/rules', '/limits/*', '/used/*'] },
      tidying: {
        reads: ['/rules', '/pins'],
        writes: [
          '/calls/*',
          '/open/*',
          '/used/*',
          '/read/*',
          '/standing/*',
          '/spent/*',
          '/sessions/*',
          '/turns/*',
        ],
      },
    },
    roles: {
      agent: {
        params: ['agent'],
        processes: ['calling', 'beginning', 'reporting', 'attending', 'standing'],
      },
      gate: { processes: ['pinning', 'tidying', 'noting'] },
      admin: { processes: ['configuring', 'pinning', 'reporting', 'standing', 'tidying'] },
    },
    actions: {
      call: {
        process: 'calling',
        description: 'Calls a tool of a server, or asks whether the caller may call it.',
        args: callArgs,
        ...(presented !== undefined && { present: { tools: presented } }),
        scopes: ({ server, tool }) => [`tool:${segment(server)}:${segment(tool)}`],
        apply: (state, args, { role, at }) =>
          applyCall(state, args, { agent: role.agent, at }, inForce(state, at)),
        onApprove: (state, args) => approveCall(state, args),
        calls: ({ rules: { runs } }, { server, tool, args }) => {
          const name = registeredName(server, tool);
          return runs.includes(name)
            ? [call(asJudged(callable.get(name) ?? recorded(name), args), args)]
            : [];
        },
      },
      begin: {
        process: 'beginning',
        description: 'Begins a call that was let through. A call is begun once.',
        args: beginArgs,
        apply: (state, args, { role, at }) => applyBegin(state, args, { agent: role.agent, at }),
      },
      session: {
        process: 'attending',
        description: 'Records the start or the end of a session of the agent.',
        args: sessionArgs,
        apply: (state, args, { role, at }) => applySession(state, args, { agent: role.agent, at }),
      },
      report: {
        process: 'reporting',
        description: 'Reports the outcome of a call that the caller made.',
        args: reportArgs,
        apply: (state, args, { role, at }) =>
          applyReport(state, args, { agent: agentOf(role), at }),
      },
      pin: {
        process: 'pinning',
        description: 'Pins the definition of a tool.',
        args: pinArgs,
        apply: (state, args, { at }) => {
          applyPin(state, args, at, inForce(state, at).compiled);
        },
      },
      stand: {
        process: 'standing',
        description: 'Asks for a standing approval of an agent’s calls, with a budget and an end.',
        args: standArgs,
        apply: (state, args, { role, at }) =>
          applyStand(state, args, { agent: agentOf(role), at }, inForce(state, at).compiled.rules),
        widens: widerTerms,
      },
      end_standing: {
        process: 'standing',
        description: 'Ends a standing approval.',
        args: endStandingArgs,
        apply: (state, args, { role }) => applyEndStanding(state, args, { agent: agentOf(role) }),
      },
      configure: {
        process: 'configuring',
        description: 'Puts rules in force.',
        args: configureArgs,
        apply: (state, args) => applyConfigure(state, args),
      },
      gap: {
        process: 'noting',
        description: 'Records that hooks let observed calls through while no server answered.',
        args: gapArgs,
        apply: () => undefined,
      },
      tidy: {
        process: 'tidying',
        description: 'Drops figures and closed calls that no rule can count any more.',
        args: z.strictObject({}),
        apply: (state, _, { at }) => applyTidy(state, at),
      },
    },
    // No token has such a name: the server itself closes what no answer can let through.
    counselors: {
      ...counselors,
      closer: (principal, { proposal }) =>
        principal === 'assize:server' && ['call', 'pin'].includes(proposal.action),
    },
    invariants: (rules) => invariants(rules, tried !== undefined),
    ...(tried === undefined ? {} : { build: rulesDigest(tried) }),
  }) as unknown as Domain<GatewayState>;
}

/** Undefined for an admin, who acts for every agent. */
function agentOf(role: object): string | undefined {
  return (role as { readonly agent?: string }).agent;
}

/**
 * The tool, if it takes the arguments as the rules have judged them: a default or a dropped member
 * could name a resource that no rule has seen.
 */
function asJudged(tool: CallableTool, args: Readonly<Record<string, unknown>>): CallableTool {
  let taken: string;
  try {
    taken = canonicalize(tool.parse(args));
  } catch (error) {
    // The kernel refuses the input with the tool's own words.
    if (isAssizeError(error)) return tool;
    throw error;
  }
  if (taken === canonicalize(args as Json)) return tool;
  throw new Error(
    `the tool ${tool.name} would take other arguments than these; write them out: ${taken.slice(0, 500)}`,
  );
}

/**
 * A tool of a recorded call, in a process that does not have the tool: to replay, never to call.
 */
function recorded(name: string): CallableTool {
  return { name, class: 'recorded', parse: (input) => input as never };
}

import { ADMINS, name, type Operation, READERS, ServerError } from '@assize/command/operation';
import type { ResolvedSimulation } from 'assize/internal/config';
import { z } from 'zod';
import { simulationDocument } from '#agents';
import { type AgentsService, operation } from './service.ts';
import { type SimulationDocument, simulationForm } from './simulation-forms.ts';

const count = z.number().int();

const list = operation({
  id: 'simulations.list',
  method: 'get',
  path: '/v1/simulations',
  summary: 'The simulations of the configuration, by name.',
  kinds: READERS,
  answer: z.strictObject({
    simulations: z.array(
      z.strictObject({
        name: z.string(),
        description: z.string().optional(),
        domain: z.string().describe('the name of the domain of its trajectories'),
        variants: z
          .array(z.string())
          .optional()
          .describe('absent: code makes them for each simulation'),
        limits: z.strictObject({ samples: count, turns: count, seconds: count }),
      }),
    ),
  }),
  run: async ({ service: { config } }) => {
    const all = [...config.simulations].sort(([one], [other]) => (one < other ? -1 : 1));
    return {
      body: { simulations: all.map(([name, simulation]) => ({ name, ...shown(simulation) })) },
    };
  },
});

/** The parts of a simulation that are not code. */
function shown({ description, domain, variants, limits }: ResolvedSimulation) {
  return {
    ...(description !== undefined && { description }),
    domain,
    ...(Array.isArray(variants) && { variants: variants.map(({ name }) => name) }),
    limits: { ...limits },
  };
}

const run = operation({
  id: 'simulations.run',
  method: 'post',
  path: '/v1/trajectories/{trajectory}/simulations',
  summary:
    'Continue a trajectory in memory by the variants of a configured simulation, and compare them. ' +
    'Writes nothing and calls no tool. Models of the variants are asked.',
  kinds: ADMINS,
  params: z.strictObject({ trajectory: name }),
  body: z
    .strictObject({
      simulation: name.describe('a name of the configuration'),
      at_seq: count
        .min(0)
        .optional()
        .describe('the last entry that is shared with the record; default: 0'),
      samples: count.min(1).optional().describe('of each variant; default: 1'),
      turns: count
        .min(1)
        .optional()
        .describe('the most of a sample; default: the limit of the simulation'),
      seed: z.string().max(256).optional().describe('the start of all chance; default: 0'),
    })
    .meta({ id: 'SimulationTerms' }),
  answer: simulationForm,
  errors: [
    ...['not_found', 'domain_mismatch', 'bad_simulation', 'bad_argument', 'signer_needed'],
    ...['too_large', 'simulation_late', 'too_busy'],
  ],
  run: async ({ path, body, service: { simulations }, signal }) => {
    const { simulation, at_seq: at = 0, samples = 1, turns, seed } = body;
    const { limits } = simulations.named(simulation);
    requireWithin('samples', samples, limits.samples);
    requireWithin('turns', turns ?? 1, limits.turns);
    const terms = {
      trajectoryId: path.trajectory,
      at,
      samples,
      turns: turns ?? limits.turns,
      seed,
    };
    const done = await simulations.run(simulation, terms, signal);
    return { body: simulationDocument(done) as SimulationDocument };
  },
});

/** @throws ServerError `invalid_request` */
function requireWithin(member: string, asked: number, most: number): void {
  if (asked <= most) return;
  const message = `must be at most ${most}, the limit of the simulation`;
  throw new ServerError('invalid_request', `The request is not valid: ${member} ${message}.`, {
    evidence: { findings: [{ pointer: `/body/${member}`, message }] },
  });
}

export const simulations: readonly Operation<AgentsService>[] = [list, run];

import {
  ANYBODY,
  documentForm,
  name,
  type Operation,
  ServerError,
} from '@assize/command/operation';
import type { Domain } from 'assize/internal/kernel';
import { domainView } from 'assize/internal/views';
import { z } from 'zod';
import { operation, type ServerService } from '../service.ts';

const domainForm = z
  .looseObject({
    name: z.string(),
    version: z.string(),
    hash: z.string(),
    actions: z.array(z.looseObject({ name: z.string() })),
    roles: z.array(documentForm),
    invariants: z.array(documentForm),
    counselors: z.array(z.string()),
    memory: z
      .looseObject({
        predicates: z.array(
          z.looseObject({ name: z.string(), cardinality: z.string(), strategy: z.string() }),
        ),
      })
      .optional()
      .describe('absent for a domain without memory'),
  })
  .meta({
    id: 'Domain',
    description: 'A domain: its actions with their schemas, its roles and its rules.',
  });

const list = operation({
  id: 'domains.list',
  method: 'get',
  path: '/v1/domains',
  summary: 'The domains of the server.',
  kinds: ANYBODY,
  answer: z.strictObject({ domains: z.array(domainForm) }),
  run: async ({ service }) => ({
    body: { domains: service.domains.map((domain) => domainView(domain)) },
  }),
});

const get = operation({
  id: 'domains.get',
  method: 'get',
  path: '/v1/domains/{domain}',
  summary: 'A domain, by its name or its hash.',
  kinds: ANYBODY,
  params: z.strictObject({ domain: name }),
  answer: domainForm,
  errors: ['not_found'],
  run: async ({ path, service }) => {
    const domain = domainNamed(service, path.domain);
    return { body: domainView(domain), etag: domain.hash };
  },
});

/** @throws ServerError `not_found` */
export function domainNamed({ domains }: ServerService, named: string): Domain {
  const found = domains.find(({ name, hash }) => name === named || hash === named);
  if (found !== undefined) return found;
  throw new ServerError(
    'not_found',
    `There is no domain ${named}. List them with GET /v1/domains.`,
  );
}

export const domains: readonly Operation<ServerService>[] = [list, get];

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { udt } from '@assize/cli/internal/domains/udt';
import type { Domain } from 'assize';
import { disclosure } from '../../../examples/domains/disclosure/index.ts';
import { verification } from '../../../examples/domains/verification/index.ts';
import { domainFolder } from '../../../tests/support/process/domain-folders.ts';
import type { Walk } from '../comparison/rehearsal.ts';
import type { Ontology } from '../ontology.ts';
import { parse } from '../parse.ts';

/** A shipped domain with its ontology and its walk. */
export interface Shipped {
  readonly ontology: Ontology;
  readonly domain: Domain;
  readonly walk: Walk;
}

const DOMAINS = { udt, disclosure, verification } as unknown as Readonly<Record<string, Domain>>;

export function shippedOntology(name: string): Ontology {
  return parse(readFileSync(join(domainFolder(name), 'ontology.ttl'), 'utf8'));
}

export function shipped(name: string): Shipped {
  const walk = JSON.parse(
    readFileSync(join(import.meta.dirname, '../walks', `${name}.json`), 'utf8'),
  ) as Walk;
  return { ontology: shippedOntology(name), domain: DOMAINS[name] as Domain, walk };
}

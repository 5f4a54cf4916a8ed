import type { Command } from 'commander';
import { acceptDraftCommand } from './accept.ts';
import { checkOntology } from './check.ts';
import { compareOntologies } from './compare.ts';
import { draftOntologyCommand } from './draft.ts';
import { drawOntology } from './draw.ts';
import { fingerprintOntology } from './fingerprint.ts';
import { invariants } from './invariants.ts';
import { roles } from './roles.ts';
import { scaffoldOntology } from './scaffold.ts';

export function ontology(program: Command): void {
  const command = program
    .command('ontology')
    .description('derive roles, invariants and a module from a domain ontology in BFO');
  for (const register of [
    checkOntology,
    roles,
    invariants,
    fingerprintOntology,
    compareOntologies,
    scaffoldOntology,
    acceptDraftCommand,
    drawOntology,
    draftOntologyCommand,
  ])
    register(command);
}

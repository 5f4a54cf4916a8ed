import type { Command } from 'commander';
import { checkOntology } from './check.ts';
import { draftOntologyCommand } from './draft.ts';
import { drawOntology } from './draw.ts';
import { fingerprintOntology } from './fingerprint.ts';
import { invariants } from './invariants.ts';
import { roles } from './roles.ts';
import { scaffoldOntology } from './scaffold.ts';

export function ontology(program: Command): void {
  const command = program
    .command('ontology')
    .description('from what a domain is, in BFO, to its roles, its invariants and a module to fill in');
  for (const register of [
    checkOntology,
    roles,
    invariants,
    fingerprintOntology,
    scaffoldOntology,
    drawOntology,
    draftOntologyCommand,
  ])
    register(command);
}

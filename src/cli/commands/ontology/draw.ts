import type { Command } from 'commander';
import { EXIT } from '../../errors.ts';
import { loadOntology, ONTOLOGY_ARGUMENT } from '../../ontologies.ts';
import { withSharedOptions } from '../../options.ts';
import { line } from '../../printable.ts';
import { inSession } from '../../session.ts';
import { writeNew } from '../../written-file.ts';
import { type RoleCliOptions, thresholdOption } from './roles.ts';

interface Options extends RoleCliOptions {
  readonly out?: string;
  readonly force?: boolean;
}

export function drawOntology(command: Command): void {
  withSharedOptions(
    command
      .command('draw')
      .description('a picture of roles, slices and invariants, as SVG')
      .argument('<ontology>', ONTOLOGY_ARGUMENT)
      .addOption(thresholdOption())
      .option('--out <file>', 'where to write it (default: standard output)')
      .option('--force', 'write over a file that is there'),
  )
    .addHelpText('after', '\nExample:\n  assize ontology draw udt --out udt.svg')
    .action(
      inSession(async ({ json, out }, { threshold, out: file, force = false }: Options, nameOrFile: string) => {
        const ontology = await loadOntology(nameOrFile);
        const { draw } = await import('assize/ontology');
        const svg = draw(ontology, threshold === undefined ? {} : { threshold });
        if (file !== undefined) writeNew([[file, svg]], force);
        if (json) out.document(file === undefined ? { svg } : { file });
        else if (file === undefined) await out.piece(svg);
        else out.line(line`${file} written`);
        return EXIT.ok;
      }),
    );
}

import { CliError, EXIT, inSession, line, withSharedOptions, writeNew } from '@assize/command';
import type { Command } from 'commander';
import { loadOntology, ONTOLOGY_ARGUMENT } from './load.ts';
import { type RoleCliOptions, thresholdOption } from './roles.ts';

interface Options extends RoleCliOptions {
  readonly out?: string;
  readonly force?: boolean;
  readonly continuant?: boolean;
}

export function drawOntology(command: Command): void {
  withSharedOptions(
    command
      .command('draw')
      .description('draw roles, slices and invariants as SVG')
      .argument('<ontology>', ONTOLOGY_ARGUMENT)
      .addOption(thresholdOption())
      .option('--continuant', 'draw the primary continuant with its relations instead')
      .option('--out <file>', 'output file (default: standard output)')
      .option('--force', 'overwrite an existing file'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  assize-experiments ontology draw udt --out udt.svg\n  assize-experiments ontology draw udt --continuant --out patient.svg',
    )
    .action(
      inSession(async ({ json, out }, options: Options, nameOrFile: string) => {
        const { threshold, out: file, force = false, continuant = false } = options;
        if (continuant && threshold !== undefined)
          throw new CliError('usage', 'A continuant has no derived roles. Leave --threshold out.');
        const ontology = await loadOntology(nameOrFile);
        const { draw, drawContinuant } = await import('../index.ts');
        const svg = continuant
          ? drawContinuant(ontology)
          : draw(ontology, threshold === undefined ? {} : { threshold });
        if (file !== undefined) writeNew([[file, svg]], force);
        if (json) out.document(file === undefined ? { svg } : { file });
        else if (file === undefined) await out.piece(svg);
        else out.line(line`${file} written`);
        return EXIT.ok;
      }),
    );
}

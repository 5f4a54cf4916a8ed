import { join } from 'node:path';
import type { Command } from 'commander';
import { EXIT } from '../../errors.ts';
import { loadOntology, ONTOLOGY_ARGUMENT } from '../../ontologies.ts';
import { withSharedOptions } from '../../options.ts';
import { line } from '../../printable.ts';
import { inSession } from '../../session.ts';
import { writeNew } from '../../written-file.ts';
import { type RoleCliOptions, thresholdOption } from './roles.ts';

interface Options extends RoleCliOptions {
  readonly force?: boolean;
}

export function scaffoldOntology(command: Command): void {
  withSharedOptions(
    command
      .command('scaffold')
      .description(
        'a domain to fill in: a module that compiles, a test that fails until each invariant is written, a README',
      )
      .argument('<ontology>', ONTOLOGY_ARGUMENT)
      .argument('<dir>', 'the folder to write to')
      .addOption(thresholdOption())
      .option('--force', 'write over files that are there'),
  )
    .addHelpText('after', '\nExample:\n  assize ontology scaffold ./library.ttl domains/library')
    .action(
      inSession(async ({ json, out }, { threshold, force = false }: Options, nameOrFile: string, folder: string) => {
        const ontology = await loadOntology(nameOrFile);
        const { scaffold } = await import('assize/ontology');
        const files = scaffold(ontology, threshold === undefined ? {} : { threshold });
        const written = [...files].map(([name, text]) => [join(folder, name), text] as const);
        writeNew(written, force);
        const paths = written.map(([path]) => path);
        if (json) out.document({ files: paths });
        else for (const path of paths) out.line(line`${path} written`);
        return EXIT.ok;
      }),
    );
}

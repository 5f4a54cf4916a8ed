import { join } from 'node:path';
import { EXIT } from 'assize/internal/cli/errors.ts';
import { withSharedOptions } from 'assize/internal/cli/files/options.ts';
import { writeNew } from 'assize/internal/cli/files/write-file.ts';
import { inSession } from 'assize/internal/cli/store/session.ts';
import { line } from 'assize/internal/cli/terminal/printable.ts';
import type { Command } from 'commander';
import { loadOntology, ONTOLOGY_ARGUMENT } from './load.ts';
import { type RoleCliOptions, thresholdOption } from './roles.ts';

interface Options extends RoleCliOptions {
  readonly force?: boolean;
}

export function scaffoldOntology(command: Command): void {
  withSharedOptions(
    command
      .command('scaffold')
      .description(
        'write a domain skeleton: a module that compiles, a test that fails until each invariant is written, a README',
      )
      .argument('<ontology>', ONTOLOGY_ARGUMENT)
      .argument('<dir>', 'output folder')
      .addOption(thresholdOption())
      .option('--force', 'overwrite existing files'),
  )
    .addHelpText('after', '\nExample:\n  assize ontology scaffold ./library.ttl domains/library')
    .action(
      inSession(async ({ json, out }, { threshold, force = false }: Options, nameOrFile: string, folder: string) => {
        const ontology = await loadOntology(nameOrFile);
        const { scaffold } = await import('../index.ts');
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

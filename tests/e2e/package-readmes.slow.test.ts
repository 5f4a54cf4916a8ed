/** The READMEs of packages whose example is a program without a framework, run as they stand. */
import { test } from 'vitest';
import { expectShown, PROGRAMS } from '../support/package-readmes.ts';

test.each(Object.entries(PROGRAMS))(
  'the program of %s prints the output that its README shows',
  (name, packages) => {
    expectShown(name, { packages });
  },
);

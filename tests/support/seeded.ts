import fc from 'fast-check';

// Of each file of tests, with what `seed.ts` has said before all of them.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env['ASSIZE_SEED']) });

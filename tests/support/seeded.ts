import fc from 'fast-check';

// Runs for each test file, with the seed that `seed.ts` has set before all of them.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env['ASSIZE_SEED']) });

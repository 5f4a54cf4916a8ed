/** A program: prints the outcome of one setting of `gate` whose message cannot be held, as JSON. */
import { modeOf } from '../../modes.ts';
import { postedIn } from '../gate-matrix.ts';

const posted = await postedIn({
  mode: modeOf('Tx-Full'),
  cause: 'its branch loses',
  branches: 2,
  fault: 'exception',
  sink: 'keyed',
  delivery: 'externalised',
});
process.stdout.write(JSON.stringify(posted));

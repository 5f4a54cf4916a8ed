/**
 * The places that a call may reach on this machine beside the paths that it names: files below a
 * folder, the file behind a symbolic link or under another name, the home folder.
 *
 * Guarantees: a place that cannot be looked at counts as reached. No program of a project runs.
 */
export { foundBelow, isLeftOut, type Names } from './below.ts';
export { canonicalPath, isOfProcess, namedPaths } from './file-path.ts';
export { gitPlaces } from './git-places.ts';
export { projectOf } from './project.ts';
export { type Asking, reachesOf } from './reached.ts';
export { gitText, repositoryOf } from './repository.ts';

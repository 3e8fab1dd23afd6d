// What web/dist/ is made from, to tell an old page from one that other tools made. Needs nothing but Node.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';

const root = join(import.meta.dirname, '..');
const DIRECTORIES = ['core/src', 'preview/src', 'preview/examples', 'web/src', 'web/examples', 'web/bindgen/src'];
const FILES = [
    'cli/src/glance.rs', 'cli/src/left.rs', 'cli/src/look.rs', 'cli/src/overview.rs', 'core/Cargo.toml', 'preview/Cargo.toml', 'web/Cargo.toml', 'web/bindgen/Cargo.lock', 'web/build.mjs', 'web/build.sh',
    'web/package-lock.json',
];

export const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** A digest of all sources. */
export function sources() {
    const files = (directory) => readdirSync(join(root, directory), { withFileTypes: true, recursive: true })
        .filter((entry) => entry.isFile())
        .map((entry) => relative(root, join(entry.parentPath, entry.name)));
    const paths = [...DIRECTORIES.flatMap(files), ...FILES].sort();
    return sha256(paths.map((path) => `${path} ${sha256(readFileSync(join(root, path)))}\n`).join(''));
}

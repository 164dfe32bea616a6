// What the clients of run.mjs are made to do: the calls of every tool, and what
// comes of them in the notes.

// Notes beside those of the vault, with what it has none of: links that lead
// nowhere or in a circle, tasks in every state, and something in its trash.
export const notes = {
  'Journal/2026-04-09.md': `---
date: 2026-04-09
tags: [journal/weekly]
---
After the frost of [[2026-04-02]]. Goes on in [[2026-04-16]].

- [ ] hang up the [[Hail net]] ⏫ 📅 2026-04-20 #bed/south
- [/] harden off the seedlings 🛫 2026-04-09
- [-] buy a second water butt ❌ 2026-04-11
- [ ] water the pots 🔁 every day ⏳ 2026-04-10
`,
  'Journal/2026-04-16.md': `---
date: 2026-04-16
tags: [Journal/Weekly]
done: true
---
Before: [[2026-04-09|last week]]. More on [poles](../Plants/Bean.md#Stakes) and in [a plan](Plans/Spring.md), see <https://example.org/>.

- [x] sow [[Bean]] and [[hail net]] hooks ✅ 2026-04-16
`,
  '.trash/Old plan.md': 'A pond, and no lawn.\n',
};

const dry = { dry_run: true };
const stale = { prev_hash: '0'.repeat(64) };

// Calls of every tool. None of them changes the vault: a call that would is a
// dry run, or is refused, as there is no person here to approve it. Of those
// that move or delete no more than 20 come at once.
export const calls = {
  server_health: [{}], // first, so that nothing was counted yet
  get_index_status: [{}],
  find_capability: [{ query: 'rename a tag everywhere', limit: 2 }, { domain: 'git', limit: '2' }, {}, { domain: 'nothing' }],
  describe_capability: [{ name: 'rename_tag' }, { names: ['read_not', 'git_commit'] }, { name: 'read_not' }, {}],
  list_vaults: [{}],
  get_vault: [{}],
  list_notes: [{}, { folder: 'Plants', sort: '-mtime', limit: 2 }, { glob: 'Journal/**' }, { folder: 'Nowhere' }],
  note_exists: [{ path: 'plants/tomato' }, { path: 'Nowhere' }],
  read_note: [{ path: 'Plants/Grünkohl' }, { path: 'Plants/Tomato.md', from_line: 9, lines: 3, format: 'json' }, { path: 'Plants/Tomatoes' }, { path: 'Plants/Tomato', view: 'outline' }, { pth: 'x' }],
  read_notes: [{ paths: ['Garden', 'Nowhere.md', 'Journal/From Windows.md'] }],
  read_section: [
    { path: 'Plants/Tomato.md', heading: ['Varieties'] },
    { path: 'Plants/Bean.md', block: 'bean-poles' },
    { path: 'Plants/Tomato.md', heading: ['Care'] },
  ],
  read_frontmatter: [{ path: 'Plants/Tomato.md' }, { path: 'Plants/Bean.md' }, { path: 'Reference/Broken.md' }],
  read_property: [{ path: 'Plants/Tomato.md', key: 'Aliases' }, { path: 'Journal/2026-03-14.md', key: 'weather.sky', nested: true }, { path: 'Garden.md', key: 'nothing' }],
  search_text: [{ query: 'tomato' }, { query: 'frost', whole_word: true, verbosity: 'terse', limit: 3 }],
  search_regex: [{ pattern: '^# ', limit: 5 }, { pattern: '(' }],
  search_vault: [
    { query: 'tomato -frost', explain: true, max_matches_per_file: 2 },
    { query: 'task-todo:(pots OR compost) path:Journal', explain: true },
    { query: '[sown] tag:#plant', verbosity: 'terse' },
    { query: 'section:(care water)', root: 'Plants' },
    { query: 'file:Map' },
    { query: 'nonsense:x ("open' },
  ],
  search_jsonlogic: [
    { logic: { '>': [{ var: 'spacing_cm' }, 30] } },
    { logic: { and: [{ in: ['plant/herb', { var: 'tags' }] }, { '==': [{ var: 'folder' }, 'Plants'] }] } },
    { logic: { '==': [{ var: 'done' }, true] }, root: 'Journal' },
    { logic: { nonsense: [1] } },
  ],
  get_note_tags: [{ path: 'Plants/Tomato' }, { path: 'Beds/North Bed.md' }, { path: 'Reference/Broken' }, { path: 'Nowhere' }],
  list_tags: [{}, { nested: true, sort: 'name', prefix: 'plant' }, { folder: 'Journal' }],
  find_notes_by_tag: [{ tag: '#plant' }, { tag: 'JOURNAL/weekly', nested: false }, { tag: 'plant', nested: false }],
  list_properties: [{}, { folder: 'Beds' }],
  find_notes_by_property: [
    { key: 'sown', value: '2026-03-14', op: '>' },
    { key: 'Sun', value: 8 },
    { key: 'plants', value: 'Basil', op: 'contains' },
    { key: 'weather.sky', value: 'clear', nested: true },
    { key: 'tags', op: 'missing', folder: 'Plants', verbosity: 'terse' },
    { key: 'date', op: '<' },
  ],
  list_tasks: [{}, { status: ['todo'], due_before: '2026-04-20' }, { root: 'Journal', priority: ['high'], tags: ['bed'] }, { status_char: '/' }, { due_on: 'soon' }],
  get_outgoing_links: [{ path: 'Garden' }, { path: 'Journal/2026-04-16', include_embeds: false }, { path: 'Map.canvas' }, { path: 'Beds/North Bed', limit: 2 }],
  get_backlinks: [{ path: 'Plants/Tomato', context: 1 }, { path: 'Plants/Basil.md', unlinked: true }, { path: 'attachments/bed-plan.png' }, { path: 'Beds/North Bed' }, { path: 'Hail net' }],
  find_orphans: [{}, { require_no_outgoing: true, folder: 'Journal' }],
  find_unresolved_links: [{}, { folder: 'Plants' }],
  find_link_cycles: [{}],
  get_link_strength: [{ from: 'Garden', to: 'Plants/Tomato' }, { from: 'Plants/Basil', to: 'Plants/Bean' }, { from: 'Garden', to: 'Archive/2024 Harvest' }],
  suggest_links: [{ path: 'Plants/Basil' }, { path: 'Archive/2024 Harvest' }],
  graph_centrality: [{ limit: 5 }, { metric: 'betweenness', min_incoming_links: 1 }],
  graph_communities: [{}, { seed: 7, min_size: 2, max_paths: 1 }],
  graph_path_between: [
    { from: 'Journal/2026-03-14', to: 'Plants/Basil' },
    { from: 'Beds/North Bed', to: 'Plants/Tomato', directed: true },
    { from: 'Garden', to: 'Archive/2024 Harvest' },
  ],
  vault_health_score: [{}, { hub_threshold: 3 }],
  list_attachments: [{}],
  get_attachment: [{ path: 'attachments/bed-plan.png' }, { path: 'attachments/seed-bag.pdf' }, { path: 'attachments/bed-plan.png', format: 'json' }],
  bundle_folder: [{ root: 'Beds' }, { root: 'Plants', max_files: 2 }],
  bundle_files: [{ paths: ['Plants/Bean', 'Nowhere'], format: 'xml' }],
  write_note: [
    { path: 'Journal/Idea', content: '# Idea\n\nA pond by the [[North Bed]].\n', ...dry },
    { path: 'Plants/Bean', content: 'Other words.\n' },
    { path: 'Plants/Bean', content: 'Other words.\n', mode: 'overwrite' },
    { path: 'Plants/Bean', content: 'Other words.\n', mode: 'overwrite', ...stale },
    { path: 'Nowhere', content: 'Other words.\n', mode: 'overwrite' },
    { path: 'Plants/Bean', content: '# Bean\n', mode: 'upsert', ...dry },
  ],
  append_note: [
    { path: 'Journal/From Windows', content: '- and hail\n', ...dry },
    { path: 'Nowhere', content: 'x' },
    { path: 'Plants/Bean', content: 'x', ...stale },
    { path: 'Journal/New', content: 'First.', create_if_missing: true, ...dry },
  ],
  patch_note: [
    { path: 'Plants/Tomato', operation: 'replace', target_heading: ['Varieties'], content: 'None yet.\n', ...dry },
    { path: 'Plants/Bean', operation: 'append', block: 'bean-seeds', content: ' Not more.', ...dry },
    { path: 'Plants/Tomato', operation: 'append', target_heading: ['Care'], content: 'x' },
    { path: 'Plants/Tomato', operation: 'append', target_heading: ['Pests'], content: 'x' },
    { path: 'Plants/Bean', operation: 'prepend', part: 'document', content: 'x', ...stale },
    { path: 'Plants/Tomato', operation: 'append', target_heading: ['Pests'], content: 'Slugs.', create_heading: true, ...dry },
  ],
  delete_note: [{ path: 'Plants/Tomato', ...dry }, { path: 'Plants/Basil' }, { path: 'Nowhere' }, { path: 'Plants/Basil', permanent: true, ...dry }],
  copy_note: [
    { from: 'Plants/Bean', to: 'Plants/Pea', ...dry },
    { from: 'Plants/Bean', to: 'Plants/Basil' },
    { from: 'Plants/Bean', to: 'Plants/Basil', overwrite: true },
    { from: 'Plants/Bean', to: 'Plants/Pea', ...stale },
    { from: 'Nowhere', to: 'Plants/Pea' },
  ],
  move_note: [
    { from: 'Plants/Tomato', to: 'Plants/Paradeiser', ...dry },
    { from: 'Plants/Basil', to: 'Beds/Basil' },
    { from: 'Plants/Basil', to: 'Plants/Bean' },
    { from: 'Plants/Basil', to: 'Plants/Mint', ...stale },
    { from: 'Map.canvas', to: 'Plan.canvas', ...dry },
  ],
  bulk_create_notes: [
    { items: [{ path: 'Beds/East Bed', content: 'Sun at noon.\n', frontmatter: { sun: 6 } }, { path: 'Beds/West Bed', content: '' }], ...dry },
    { items: [{ path: 'Beds/East Bed', content: 'x' }, { path: 'Plants/Bean', content: 'x' }] },
    { items: [{ path: 'Beds/East Bed', content: 'x' }, { path: 'Plants/Bean', content: 'x' }], partial: true, ...dry },
  ],
  bulk_move_notes: [
    { moves: [{ from: 'Plants/Basil', to: 'Plants/Bean' }, { from: 'Plants/Bean', to: 'Plants/Basil' }], ...dry },
    { moves: [{ from: 'Plants/Basil', to: 'Beds/Basil' }, { from: 'Nowhere', to: 'Beds/Nothing' }] },
    { moves: [{ from: 'Plants/Basil', to: 'Beds/Basil' }] },
    { moves: [{ from: 'Plants/Basil', to: 'Plants/Mint' }, { from: 'Nowhere', to: 'Plants/Nothing' }], partial: true, ...dry },
  ],
  move_folder: [{ from: 'Beds', to: 'Raised beds', ...dry }, { from: 'Beds', to: 'Archive/Beds' }, { from: 'Beds', to: 'Plants' }],
  delete_folder: [{ path: 'Beds', ...dry }, { path: 'Nowhere' }],
  put_attachment: [
    { path: 'attachments/dot.gif', content: 'R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs=', ...dry },
    { path: 'attachments/bed-plan.png', content: 'iVBORw0KGgo=' },
    { path: 'attachments/dot.gif', content: 'no base64!' },
    { path: 'attachments/dot.txt', content: 'R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs=' },
  ],
  move_attachment: [{ from: 'attachments/bed-plan.png', to: 'attachments/plan of the beds.png', ...dry }, { from: 'attachments/none.csv', to: 'attachments/snow.csv' }],
  delete_attachment: [{ path: 'attachments/bed-plan.png', ...dry }, { path: 'attachments/rain.csv', ...stale }, { path: 'attachments/seed-bag.pdf' }],
  update_frontmatter: [
    { path: 'Plants/Tomato', operation: 'set', key: 'spacing_cm', value: 60, ...dry },
    { path: 'Journal/2026-03-14', operation: 'set', key: 'weather.wind', value: 'east', nested: true, ...dry },
    { path: 'Garden', operation: 'merge', properties: { beds: 3, owner: null }, ...dry },
    { path: 'Reference/Broken', operation: 'set', key: 'title', value: 'x' },
    { path: 'Garden', operation: 'remove', key: 'beds', ...stale },
    { path: 'Nowhere', operation: 'remove', key: 'beds' },
    { path: 'Plants/Basil', operation: 'remove', key: 'SOWN', ...dry },
  ],
  add_tag: [
    { path: 'Plants/Bean', tag: '#plant/climber', ...dry },
    { path: 'Plants/Tomato', tag: 'warm', ...dry },
    { path: 'Plants/Bean', tag: 'two words' },
    { path: 'Plants/Bean', tag: 'plant', ...stale },
    { path: 'Nowhere', tag: 'plant' },
    { path: 'Plants/Bean', tag: 'plant', location: 'inline', ...dry },
  ],
  remove_tag: [
    { path: 'Plants/Tomato', tag: 'warm', ...dry },
    { path: 'Plants/Tomato', tag: 'warm', ...stale },
    { path: 'Nowhere', tag: 'warm' },
    { path: 'Plants/Tomato', tag: '#Warm', location: 'all', ...dry },
  ],
  rename_tag: [{ tag: 'plant', new_tag: 'crop', ...dry }, { tag: 'nothing', new_tag: 'something' }, { tag: 'journal/weekly', new_tag: 'journal', ...dry }],
  rename_property: [{ key: 'sown', new_key: 'planted', ...dry }, { key: 'nothing', new_key: 'something' }, { key: 'sun', new_key: 'soil' }],
  bulk_set_property: [
    { paths: ['Plants/Basil', 'Plants/Bean'], key: 'checked', value: '2026-05-01', ...dry },
    { paths: ['Plants/Basil', 'Reference/Broken', 'Nowhere'], key: 'checked', value: true },
    { paths: ['Plants/Basil', 'Reference/Broken', 'Nowhere'], key: 'checked', value: true, partial: true, ...dry },
  ],
  update_task: [
    { path: 'Journal/2026-03-14', line: 7, toggle: true, done: '2026-03-21', ...dry },
    { path: 'Journal/2026-04-09', line: 7, status: 'in_progress', priority: 'low', due: '', add_tags: ['net'], ...dry },
    { path: 'Journal/2026-04-09', line: 7, text: 'mend the fence', toggle: true },
    { path: 'Journal/2026-04-09', line: 5, toggle: true },
    { path: 'Journal/2026-04-09', line: 7, toggle: true, ...stale },
    { path: 'Nowhere', line: 1, toggle: true },
    { path: 'Journal/2026-04-09', line: 10, toggle: true, ...dry },
  ],
  insert_table_row: [
    { path: 'Plants/Tomato', values: ['Ruthje', '70', 'sweet | sour'], at: 0, ...dry },
    { path: 'Plants/Tomato', values: ['Ruthje'], ...stale },
    { path: 'Plants/Bean', values: ['x'] },
  ],
  insert_table_column: [{ path: 'Plants/Tomato', header: 'seeds', values: ['4', '9'], align: 'right', at: 1, ...dry }, { path: 'Plants/Tomato', table_index: 3, header: 'x' }],
  sort_table_by_column: [{ path: 'Plants/Tomato', column: 'days', numeric: true, ...dry }, { path: 'Plants/Tomato', column: 7 }, { path: 'Plants/Tomato', column: 0, order: 'desc', line: 24, ...dry }],
  format_table: [{ path: 'Plants/Tomato', ...dry }, { path: 'Plants/Tomato', line: 9 }, { path: 'Nowhere' }],
  rename_heading: [
    { path: 'Plants/Tomato', heading: ['Varieties'], to: 'Kinds', ...dry },
    { path: 'Plants/Tomato', heading: ['Care'], to: 'Work' },
    { path: 'Plants/Tomato', heading: ['Varieties'], to: 'Kinds', ...stale },
    { path: 'Nowhere', heading: ['Care'], to: 'Work' },
    { path: 'Plants/Tomato', heading: ['Care'], line: 28, to: 'Harvest', ...dry },
  ],
  rewrite_link: [{ from_target: 'Hail net', to_target: 'Beds/South Bed', ...dry }, { from_target: 'Plants/Bean', to_target: 'Nowhere' }, { from_target: 'Plants/Basil', to_target: 'Plants/Bean', folder: 'Beds', ...dry }],
  prune_hub_links: [{ path: 'Garden', ...dry }, { path: 'Nowhere' }, { path: 'Garden', ...stale }, { path: 'Journal/2026-04-16', remove_duplicates: false, ...dry }],
  snapshot_note: [{ path: 'Plants/Basil' }, { path: 'Nowhere' }, { path: 'Plants/Basil' }], // what is kept already is not kept twice
  list_snapshots: [{ path: 'Plants/Basil' }, { path: 'Nowhere' }],
  read_snapshot: [{ snapshot_id: 1 }, { snapshot_id: 1, format: 'json' }, { snapshot_id: 99 }],
  diff_note: [{ path: 'Plants/Basil', against: 1 }, { path: 'Plants/Bean', against: 1 }, { path: 'Plants/Basil', against: 99 }],
  restore_note: [{ path: 'Plants/Basil', snapshot_id: 1, ...dry }, { path: 'Plants/Basil', snapshot_id: 1, ...stale }, { path: 'Plants/Basil', snapshot_id: 99 }],
  list_trash: [{}],
  restore_from_trash: [
    { name: 'Old plan.md', to: 'Archive/Old plan', ...dry },
    { name: 'Old plan.md' },
    { name: 'Old plan.md', to: 'Garden' },
    { name: 'Old plan.md', to: 'Archive/Old plan' },
    { name: 'Nothing.md' },
  ],
  list_changes: [{}, { since: 'soon' }, { path: 'Plants/Basil', since: '2026-01-01' }],
  read_change: [{ change_id: 'nothing' }],
  undo_change: [{ change_id: 'nothing' }, { change_id: 'nothing', partial: true, ...dry }],
  index_vault: [{}, { folder: 'Nowhere' }, { rebuild: true }], // few, as of all that administers no more than 10 come at once
  reload_vault: [{}],
  // The vault lies in no repository.
  git_status: [{}],
  git_diff: [{ path: 'Plants/Bean' }],
  git_log: [{}],
  git_show: [{}],
  git_stage: [{ paths: ['Plants/Bean.md'] }, { paths: [] }],
  git_unstage: [{ paths: ['Plants/Bean.md'] }],
  git_restore: [{ path: 'Plants/Bean' }],
  git_commit: [{ message: 'Beans' }, { message: '' }],
  get_metrics: [{}],
  get_server_config: [{}],
  inspect_acl: [{ path: 'Plants/Bean.md' }],
  reset_vault_cache: [{ ...dry }],
  changes_since: [{}, { cursor: 'nonsense' }],
};

// What tells the state of the index, which a server that has just started may
// still be loading.
export const ofIndex = ['get_index_status', 'index_vault', 'reload_vault'];

// Lists that are also gone through page by page: what they hold, and how much
// of it on a page.
export const paged = [
  ['list_notes', {}, 'notes', 4],
  ['list_notes', { sort: 'size' }, 'notes', 3],
  ['search_text', { query: 'tomato' }, 'items', 2],
  ['search_regex', { pattern: '^#+ ' }, 'items', 7],
  ['list_attachments', {}, 'attachments', 1],
  ['search_vault', { query: 'tomato OR frost' }, 'items', 3],
  ['search_jsonlogic', { logic: { '>': [{ var: 'size' }, 0] } }, 'items', 4],
  ['list_tags', {}, 'tags', 3],
  ['list_properties', {}, 'properties', 4],
  ['find_notes_by_tag', { tag: 'plant' }, 'matches', 1],
  ['find_notes_by_property', { key: 'tags' }, 'matches', 2],
  ['list_tasks', {}, 'items', 2],
  ['get_outgoing_links', { path: 'Garden' }, 'links', 3],
  ['get_backlinks', { path: 'Plants/Tomato', unlinked: true }, 'backlinks', 4],
  ['find_orphans', {}, 'orphans', 2],
  ['find_unresolved_links', {}, 'unresolved', 1],
];

export const uris = [
  'vault://main/Plants/Gr%C3%BCnkohl.md',
  'obsidian-tc://main/Journal/2026-04-02.md',
  'vault://main/Notes%20%26%20Ends/50%25%20shade%2C%20100%25%20luck.md',
  'vault://main/attachments/bed-plan.png',
  'vault://main/Map.canvas',
];
export const missing = 'vault://main/Nowhere.md';

// A note is made, changed and read, and the changes are taken back but for the
// making of it, which would need a person. "<change 3>" stands for the id of the
// third change.
const diary = { path: 'Journal/Diary' };
const made = '# Diary\n\n## Today\n\nRain.\n';
const keyed = { ...diary, content: 'The [[Bean]] is up.\n', idempotency_key: 'bean' };
export const story = [
  ['write_note', { ...diary, content: made }],
  ['append_note', keyed],
  ['append_note', keyed], // once more has no second effect
  ['patch_note', { ...diary, operation: 'replace', target_heading: ['Today'], content: 'Sun, and no wind.\n' }],
  ['read_note', diary],
  ['read_change', { change_id: '<change 3>' }],
  ['list_snapshots', diary],
  ['undo_change', { change_id: '<change 2>' }], // the one after it is in its way
  ['undo_change', { change_id: '<change 3>' }],
  ['undo_change', { change_id: '<change 2>' }],
  ['undo_change', { change_id: '<change 1>' }],
  ['list_changes', { limit: 3 }],
];

// What the vault has afterwards that it had not before.
export const left = { 'Journal/Diary.md': made };

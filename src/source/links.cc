#include "source/links.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/file_name.h"
#include "source/standard_modules.h"

namespace linescope {
namespace {

// What an expression is known to be.
enum class ValueKind : uint8_t {
  kNothing,
  kModule,        // file
  kLikelyModule,  // a file that a package may hide under its name: not to be linked itself
  kFolder,        // a package whose own code is not known; `index` of folders
  kFunction,      // file, `index` of its definitions
  kClass,         // file, `index` of its symbols' classes
  kInstance,      // of such a class
  kSuper,         // what the classes behind such a one have
};

struct Value {
  ValueKind kind = ValueKind::kNothing;
  uint32_t file = 0;
  uint32_t index = 0;
  explicit operator bool() const { return kind != ValueKind::kNothing; }
};

struct ClassId {
  uint32_t file = 0, index = 0;
  bool operator==(const ClassId&) const = default;
};

// Classes in the order in which attributes are looked up.
struct Order {
  std::vector<ClassId> classes;
  bool complete = true;  // false: unknown ones follow
};

// Longer chains of imports, bases and assignments are followed in no program.
constexpr int kMaxDepth = 60;
// The order of classes costs the square of their number.
constexpr size_t kMaxOrder = 64;

class Resolver {
 public:
  Resolver(std::span<const LinkSource> sources, const ImportRoots& roots)
      : sources_(sources), roots_(roots) {
    for (uint32_t file = 0; file < sources.size(); ++file) AddModule(file);
    for (const auto& root : roots.scripts) known_roots_.push_back(root);
    for (const auto& root : roots.others) known_roots_.push_back(root);
    LearnRoots();
    std::ranges::sort(known_roots_);
    const auto repeated = std::ranges::unique(known_roots_);
    known_roots_.erase(repeated.begin(), repeated.end());
    Forget();
  }

  std::vector<std::vector<Link>> Resolve() {
    MarkReplacedAttributes();
    Forget();
    std::vector<std::vector<Link>> links(sources_.size());
    for (uint32_t file = 0; file < sources_.size(); ++file) {
      const Symbols* symbols = SymbolsOf(file);
      if (symbols == nullptr) continue;
      for (uint32_t i = 0; i < symbols->references.size(); ++i) {
        const Reference& reference = symbols->references[i];
        if (reference.length == 0) continue;
        const std::optional<std::pair<uint32_t, uint32_t>> target = TargetOf(ValueOf(file, i));
        if (!target) continue;
        links[file].push_back(
            {reference.line, reference.column, reference.length, target->first, target->second});
      }
      std::ranges::sort(links[file], {},
                        [](const Link& link) { return std::pair(link.line, link.column); });
    }
    return links;
  }

 private:
  struct Memo {
    std::vector<Value> values;
    std::vector<uint8_t> state;  // by reference: 0 unknown, 1 being found, 2 known
  };

  const Symbols* SymbolsOf(uint32_t file) const {
    const SourceIndex* index = sources_[file].index;
    return index == nullptr || !index->complete ? nullptr : &index->symbols;
  }

  void Forget() {
    memo_.assign(sources_.size(), {});
    orders_.clear();
  }

  static std::string_view Folder(std::string_view path) {
    const size_t slash = path.rfind('/');
    return slash == path.npos ? std::string_view() : path.substr(0, slash);
  }

  void AddModule(uint32_t file) {
    std::string_view path = sources_[file].path;
    if (!path.ends_with(".py")) return;
    path.remove_suffix(3);
    constexpr std::string_view kPackage = "/__init__";
    if (path.ends_with(kPackage)) {
      path.remove_suffix(kPackage.size());
      modules_[std::string(path)] = file;  // before a module of that name beside it
    } else {
      modules_.try_emplace(std::string(path), file);
    }
    for (std::string_view folder = Folder(path); !folder.empty(); folder = Folder(folder)) {
      const auto [at, added] =
          folder_ids_.try_emplace(folder, static_cast<uint32_t>(folders_.size()));
      if (!added) break;
      folders_.push_back(folder);
    }
  }

  // A file that imports from a package of the name of a folder it lies in shows what that package
  // is imported from.
  void LearnRoots() {
    for (uint32_t file = 0; file < sources_.size(); ++file) {
      const Symbols* symbols = SymbolsOf(file);
      if (symbols == nullptr) continue;
      for (const Import& import : symbols->imports) {
        const std::string_view module = import.module;
        if (import.level > 0 || module.empty()) continue;
        std::string rest(module.substr(std::min(module.find('.'), module.size())));
        std::ranges::replace(rest, '.', '/');
        if (rest.empty() && import.name != kNoSymbol) rest = '/' + symbols->names[import.name];
        const std::string_view top = module.substr(0, module.find('.'));
        if (rest.empty()) continue;
        for (std::string_view folder = Folder(sources_[file].path); !folder.empty();
             folder = Folder(folder)) {
          if (FileName(folder) != top) continue;
          if (modules_.contains(std::string(folder) + rest))
            known_roots_.emplace_back(Folder(folder));
        }
      }
    }
  }

  Value ModuleAt(const std::string& path) const {
    if (const auto found = modules_.find(path); found != modules_.end())
      return {ValueKind::kModule, found->second, 0};
    if (const auto found = folder_ids_.find(path); found != folder_ids_.end())
      return {ValueKind::kFolder, 0, found->second};
    return {};
  }

  // A root that holds these is the standard library itself.
  bool IsStandardLibrary(const std::string& root) const {
    return modules_.contains(root + "/os") && modules_.contains(root + "/abc");
  }

  // Where a top-level module lies; nullopt: not in these sources, or in several places.
  std::optional<std::string> FindRoot(std::string_view top) const {
    std::optional<std::string> found;
    for (const std::string& root : known_roots_) {
      if (IsStandardModule(top) && !IsStandardLibrary(root)) {
        const bool before = std::ranges::find(roots_.scripts, root) != roots_.scripts.end();
        if (!before || IsStartupModule(top)) continue;
      }
      std::string path = root + '/' + std::string(top);
      if (!ModuleAt(path)) continue;
      if (found && *found != path) return std::nullopt;
      found = std::move(path);
    }
    return found;
  }

  Value FindModule(uint32_t file, const Import& import) const {
    std::string path;
    std::string_view rest = import.module;
    if (import.level > 0) {
      std::string_view folder = sources_[file].path;
      for (uint32_t i = 0; i < import.level && !folder.empty(); ++i) folder = Folder(folder);
      if (folder.empty()) return {};
      path = folder;
      if (rest.empty()) return ModuleAt(path);
    } else {
      const std::string_view top = rest.substr(0, rest.find('.'));
      const auto root = FindRoot(top);
      if (!root) return {};
      path = *root;
      rest.remove_prefix(std::min(top.size() + 1, rest.size()));
    }
    if (!rest.empty()) {
      path += '/';
      path += rest;
      std::replace(path.end() - static_cast<ptrdiff_t>(rest.size()), path.end(), '.', '/');
    }
    return ModuleAt(path);
  }

  // What the module `value` has under `name`.
  Value MemberOf(const Value& value, std::string_view name, int depth) {
    if (value.kind == ValueKind::kFolder) {
      // Its own code, which is not known, may give the name to something else.
      Value module = ModuleAt(std::string(folders_[value.index]) + '/' + std::string(name));
      if (module.kind == ValueKind::kModule) module.kind = ValueKind::kLikelyModule;
      return module;
    }
    const Symbols* symbols = SymbolsOf(value.file);
    if (symbols == nullptr) return {};
    if (const Symbol* symbol = symbols->FindExport(name))
      return ValueOfSymbol(value.file, *symbol, depth);
    if (symbols->has_star_import) return {};
    std::string_view path = sources_[value.file].path;
    if (!path.ends_with("/__init__.py")) return {};
    return ModuleAt(std::string(Folder(path)) + '/' + std::string(name));
  }

  Value ValueOfImport(uint32_t file, const Import& import, int depth) {
    const Value module = FindModule(file, import);
    if (import.name == kNoSymbol) return module;
    const std::string_view name = SymbolsOf(file)->names[import.name];
    const bool has_members = module.kind == ValueKind::kModule || module.kind == ValueKind::kFolder;
    return has_members ? MemberOf(module, name, depth + 1) : Value{};
  }

  // A symbol seen from outside of its scope.
  Value ValueOfSymbol(uint32_t file, const Symbol& symbol, int depth) {
    if (symbol.conditional) return {};
    return ValueOfBoundSymbol(file, symbol, depth);
  }

  Value ValueOfBoundSymbol(uint32_t file, const Symbol& symbol, int depth) {
    if (symbol.ambiguous || depth > kMaxDepth || IsReplaced(symbol)) return {};
    const Symbols& symbols = *SymbolsOf(file);
    switch (symbol.kind) {
      case SymbolKind::kFunction:
        return {ValueKind::kFunction, file, symbol.index};
      case SymbolKind::kClass:
      case SymbolKind::kSelfClass:
        return {ValueKind::kClass, file, symbol.index};
      case SymbolKind::kModule:
      case SymbolKind::kImported:
        return ValueOfImport(file, symbols.imports[symbol.index], depth);
      case SymbolKind::kValue: {
        const Value value = ValueOf(file, symbol.index, depth + 1);
        // Where it may be None, only what has attributes is meant.
        if (symbol.or_none && value.kind != ValueKind::kInstance) return {};
        return value;
      }
      case SymbolKind::kAnnotated: {
        const Value type = ValueOf(file, symbol.index, depth + 1);
        if (type.kind != ValueKind::kClass) return {};
        return {ValueKind::kInstance, type.file, type.index};
      }
      case SymbolKind::kSelf:
        return {ValueKind::kInstance, file, symbol.index};
      case SymbolKind::kUnknown:
      case SymbolKind::kNone:
        return {};
    }
    return {};
  }

  Value ValueOf(uint32_t file, uint32_t reference, int depth = 0) {
    Memo& memo = memo_[file];
    if (memo.state.empty()) {
      const size_t count = SymbolsOf(file)->references.size();
      memo.values.resize(count);
      memo.state.resize(count);
    }
    if (memo.state[reference] == 2) return memo.values[reference];
    // In a circle nothing is certain.
    if (memo.state[reference] == 1 || depth > kMaxDepth) return {};
    memo.state[reference] = 1;
    const Value value = Find(file, SymbolsOf(file)->references[reference], depth);
    memo_[file].values[reference] = value;
    memo_[file].state[reference] = 2;
    return value;
  }

  Value Find(uint32_t file, const Reference& reference, int depth) {
    const Symbols& symbols = *SymbolsOf(file);
    switch (reference.kind) {
      case ReferenceKind::kSymbol:
        return ValueOfBoundSymbol(file, symbols.symbols[reference.index], depth);
      case ReferenceKind::kImport:
        return ValueOfImport(file, symbols.imports[reference.index], depth);
      case ReferenceKind::kAttribute:
        return AttributeOf(file, reference, depth);
      case ReferenceKind::kCall: {
        const Value called = ValueOf(file, reference.index, depth + 1);
        if (called.kind != ValueKind::kClass || !GivesInstances({called.file, called.index}, depth))
          return {};
        return {ValueKind::kInstance, called.file, called.index};
      }
      case ReferenceKind::kSuper:
        return {ValueKind::kSuper, file, reference.index};
    }
    return {};
  }

  Value AttributeOf(uint32_t file, const Reference& reference, int depth) {
    const Value of = ValueOf(file, reference.index, depth + 1);
    const std::string_view name = SymbolsOf(file)->names[reference.name];
    switch (of.kind) {
      case ValueKind::kModule:
      case ValueKind::kLikelyModule:
      case ValueKind::kFolder:
        return MemberOf(of, name, depth + 1);
      case ValueKind::kClass:
      case ValueKind::kInstance:
      case ValueKind::kSuper:
        break;
      default:
        return {};
    }
    const ClassId id{of.file, of.index};
    if (name.starts_with("__") && !name.ends_with("__")) {
      // The name is mangled by the class in whose text it stands.
      if (of.kind == ValueKind::kSuper || id != ClassId{file, reference.scope_class}) return {};
      const Symbols& symbols = *SymbolsOf(file);
      const Symbol* symbol = symbols.FindAttribute(symbols.classes[id.index], name);
      return symbol == nullptr ? Value{} : ValueOfSymbol(file, *symbol, depth + 1);
    }
    const Order& order = OrderOf(id, depth);
    const size_t first = of.kind == ValueKind::kSuper ? 1 : 0;
    for (size_t i = first; i < order.classes.size(); ++i) {
      const auto& [at, index] = order.classes[i];
      const Symbols& symbols = *SymbolsOf(at);
      if (const Symbol* symbol = symbols.FindAttribute(symbols.classes[index], name))
        return ValueOfSymbol(at, *symbol, depth + 1);
    }
    return {};
  }

  // False where calling the class may give something else.
  bool GivesInstances(ClassId id, int depth) {
    for (const auto& [file, index] : OrderOf(id, depth).classes) {
      const Symbols& symbols = *SymbolsOf(file);
      const ClassSymbols& of = symbols.classes[index];
      if (of.opaque || symbols.FindAttribute(of, "__new__") != nullptr) return false;
    }
    return true;
  }

  const Order& OrderOf(ClassId id, int depth) {
    const uint64_t key = uint64_t{id.file} << 32 | id.index;
    if (const auto found = orders_.find(key); found != orders_.end()) return found->second;
    // Stands for the class in a circle of bases, which no Python would run.
    orders_[key] = {.classes = {id}, .complete = false};
    Order order = depth > kMaxDepth ? orders_[key] : FindOrder(id, depth);
    return orders_[key] = std::move(order);
  }

  // The C3 order as far as the bases are known.
  Order FindOrder(ClassId id, int depth) {
    std::vector<Order> lists;
    Order bases{.classes = {}, .complete = true};  // in the order in which they are written
    size_t total = 0;
    for (const uint32_t base : SymbolsOf(id.file)->classes[id.index].bases) {
      const Value value = base == kNoSymbol ? Value{} : ValueOf(id.file, base, depth + 1);
      bases.complete = value.kind == ValueKind::kClass;
      if (!bases.complete) break;
      bases.classes.push_back({value.file, value.index});
      lists.push_back(OrderOf(bases.classes.back(), depth + 1));
      total += lists.back().classes.size();
      bases.complete = lists.back().complete && total < kMaxOrder;
      if (!bases.complete) break;
    }
    Order order{.classes = {id}, .complete = bases.complete};
    if (bases.complete) {
      lists.push_back(std::move(bases));
      Merge(lists, order);
    } else if (!lists.empty()) {
      // Whatever the others are, the first base comes next; all of its own follow where it is
      // alone.
      const bool alone = SymbolsOf(id.file)->classes[id.index].bases.size() == 1;
      const auto& first = lists.front().classes;
      const size_t certain = alone ? std::min(first.size(), kMaxOrder) : 1;
      order.classes.insert(order.classes.end(), first.begin(),
                           first.begin() + static_cast<ptrdiff_t>(certain));
    }
    return order;
  }

  static void Merge(std::vector<Order>& lists, Order& order) {
    while (true) {
      std::erase_if(lists, [](const Order& list) { return list.classes.empty(); });
      if (lists.empty()) return;
      const auto in_a_tail = [&](ClassId id) {
        return std::ranges::any_of(lists, [&](const Order& list) {
          return std::find(list.classes.begin() + 1, list.classes.end(), id) != list.classes.end();
        });
      };
      const auto next = std::ranges::find_if(
          lists, [&](const Order& list) { return !in_a_tail(list.classes.front()); });
      if (next == lists.end()) {  // no such order: Python refuses the class
        order.complete = false;
        return;
      }
      const ClassId id = next->classes.front();
      order.classes.push_back(id);
      for (Order& list : lists) {
        if (list.classes.front() == id) list.classes.erase(list.classes.begin());
      }
    }
  }

  // `Cls.f = …` and `module.f = …` take the place of what is defined there.
  void MarkReplacedAttributes() {
    std::unordered_set<const Symbol*> replaced;
    for (uint32_t file = 0; file < sources_.size(); ++file) {
      const Symbols* symbols = SymbolsOf(file);
      if (symbols == nullptr) continue;
      for (const AttributeStore& store : symbols->stores) {
        const Value of = ValueOf(file, store.base);
        const std::string_view name = symbols->names[store.name];
        const Symbols* there = of ? SymbolsOf(of.file) : nullptr;
        if (there == nullptr) continue;
        const Symbol* symbol = nullptr;
        if (of.kind == ValueKind::kModule || of.kind == ValueKind::kLikelyModule) {
          symbol = there->FindExport(name);
        } else if (of.kind == ValueKind::kClass || of.kind == ValueKind::kInstance) {
          for (const auto& [at, index] : OrderOf({of.file, of.index}, 0).classes) {
            const Symbols& symbols_there = *SymbolsOf(at);
            symbol = symbols_there.FindAttribute(symbols_there.classes[index], name);
            if (symbol != nullptr) break;
          }
        }
        if (symbol != nullptr) replaced.insert(symbol);
      }
    }
    replaced_ = std::move(replaced);
  }

  bool IsReplaced(const Symbol& symbol) const { return replaced_.contains(&symbol); }

  std::optional<std::pair<uint32_t, uint32_t>> TargetOf(const Value& value) const {
    switch (value.kind) {
      case ValueKind::kModule:
        return std::pair(value.file, 1u);
      case ValueKind::kFunction:
        return std::pair(value.file, sources_[value.file].index->definitions[value.index].line);
      case ValueKind::kClass: {
        const SourceIndex& index = *sources_[value.file].index;
        const uint32_t definition = index.symbols.classes[value.index].definition;
        if (definition == kNoSymbol) return std::nullopt;
        return std::pair(value.file, index.definitions[definition].line);
      }
      default:
        return std::nullopt;
    }
  }

  std::span<const LinkSource> sources_;
  const ImportRoots& roots_;
  std::vector<std::string> known_roots_;
  std::unordered_map<std::string, uint32_t> modules_;  // by path without ".py" or "/__init__.py"
  std::vector<std::string_view> folders_;
  std::unordered_map<std::string_view, uint32_t> folder_ids_;
  std::vector<Memo> memo_;
  std::unordered_map<uint64_t, Order> orders_;
  std::unordered_set<const Symbol*> replaced_;
};

}  // namespace

std::vector<std::vector<Link>> ResolveLinks(std::span<const LinkSource> sources,
                                            const ImportRoots& roots) {
  return Resolver(sources, roots).Resolve();
}

}  // namespace linescope
